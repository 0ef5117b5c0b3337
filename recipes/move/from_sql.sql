-- Writes the files of `tideline import` from PostgreSQL: psql --file from_sql.sql. Change the names to those of your
-- tables. An error ends psql with the exit code 3. The inbox table itself is not imported: Tideline makes its own. inboxes.csv is for compare.py. Posts are in
-- their order, because names of the same millisecond keep the order of the file.
\set ON_ERROR_STOP on
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
\copy (SELECT follower AS user_id, followee AS target_id, floor(extract(epoch FROM created_at) * 1000)::bigint AS since FROM follows) TO 'follows.csv' CSV HEADER
\copy (SELECT id AS content_id, author AS author_id, floor(extract(epoch FROM created_at) * 1000)::bigint AS published_at, body AS text FROM posts ORDER BY created_at, id) TO 'content.csv' CSV HEADER
\copy (SELECT reader, post FROM inbox ORDER BY reader, created_at DESC, post DESC) TO 'inboxes.csv' CSV
COMMIT;
