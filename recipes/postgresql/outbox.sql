-- Each change of the host's tables puts one row into tideline_outbox, in the same transaction. So the row is there if
-- and only if the change is. worker.py sends the rows to Tideline, and removes them.
CREATE TABLE tideline_outbox (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- changes of one row of the host have rising numbers
    change jsonb NOT NULL
);

-- Changes that Tideline refused. Look at them: they point at a mistake.
CREATE TABLE tideline_refused (
    id         bigint PRIMARY KEY,
    change     jsonb NOT NULL,
    problem    text NOT NULL,
    refused_at timestamptz NOT NULL DEFAULT now()
);

-- Milliseconds. Times such as 'infinity' become numbers that Tideline refuses: they must not fail the host's transaction.
CREATE FUNCTION tideline_time(t timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS
$$ SELECT greatest(-1, least(9007199254740991, floor(extract(epoch FROM t) * 1000)))::bigint $$;

CREATE FUNCTION tideline_item(p posts) RETURNS jsonb LANGUAGE sql STABLE AS
$$ SELECT jsonb_build_object('content_id', p.id, 'author_id', p.author, 'text', p.body,
                             'published_at', tideline_time(p.created_at)) $$;

CREATE FUNCTION tideline_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO tideline_outbox (change)
        SELECT jsonb_build_object('do', 'unfollow', 'user', follower, 'target', followee) FROM follows;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND NEW IS DISTINCT FROM OLD THEN
        INSERT INTO tideline_outbox (change)
        VALUES (jsonb_build_object('do', 'unfollow', 'user', OLD.follower, 'target', OLD.followee));
    END IF;
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        INSERT INTO tideline_outbox (change)
        VALUES (jsonb_build_object('do', 'follow', 'user', NEW.follower, 'target', NEW.followee,
                                   'since', tideline_time(NEW.created_at)));
    END IF;
    NOTIFY tideline;
    RETURN NULL;
END $$;

CREATE FUNCTION tideline_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO tideline_outbox (change) SELECT jsonb_build_object('do', 'delete', 'id', id) FROM posts;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND NEW.id <> OLD.id THEN
        INSERT INTO tideline_outbox (change) VALUES (jsonb_build_object('do', 'delete', 'id', OLD.id));
    END IF;
    IF TG_OP IN ('INSERT', 'UPDATE') THEN  -- a publish if more than the text has changed
        INSERT INTO tideline_outbox (change) SELECT jsonb_build_object('item', tideline_item(NEW), 'do',
            CASE WHEN TG_OP = 'UPDATE' AND (NEW.id, NEW.author, NEW.created_at) = (OLD.id, OLD.author, OLD.created_at)
                 THEN 'edit' ELSE 'publish' END);
    END IF;
    NOTIFY tideline;
    RETURN NULL;
END $$;

CREATE FUNCTION tideline_like() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO tideline_outbox (change)
        SELECT jsonb_build_object('do', 'unlike', 'id', post, 'user', member) FROM likes;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND NEW IS DISTINCT FROM OLD THEN
        INSERT INTO tideline_outbox (change)
        VALUES (jsonb_build_object('do', 'unlike', 'id', OLD.post, 'user', OLD.member));
    END IF;
    IF TG_OP IN ('INSERT', 'UPDATE') THEN
        INSERT INTO tideline_outbox (change)
        VALUES (jsonb_build_object('do', 'like', 'id', NEW.post, 'user', NEW.member, 'since', tideline_time(NEW.created_at)));
    END IF;
    NOTIFY tideline;
    RETURN NULL;
END $$;

CREATE TRIGGER tideline AFTER INSERT OR DELETE OR UPDATE OF follower, followee, created_at ON follows
    FOR EACH ROW EXECUTE FUNCTION tideline_follow();
CREATE TRIGGER tideline AFTER INSERT OR DELETE OR UPDATE OF id, author, body, created_at ON posts
    FOR EACH ROW EXECUTE FUNCTION tideline_post();
CREATE TRIGGER tideline AFTER INSERT OR DELETE OR UPDATE OF post, member, created_at ON likes
    FOR EACH ROW EXECUTE FUNCTION tideline_like();
CREATE TRIGGER tideline_truncate BEFORE TRUNCATE ON follows EXECUTE FUNCTION tideline_follow();
CREATE TRIGGER tideline_truncate BEFORE TRUNCATE ON posts EXECUTE FUNCTION tideline_post();
CREATE TRIGGER tideline_truncate BEFORE TRUNCATE ON likes EXECUTE FUNCTION tideline_like();

-- Sends the present state of what a change is about: for a call that may have come after later ones.
CREATE FUNCTION tideline_again(late jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    item text := coalesce(late ->> 'id', late #>> '{item,content_id}');
BEGIN
    IF late ->> 'do' IN ('follow', 'unfollow') THEN
        LOCK TABLE follows IN SHARE ROW EXCLUSIVE MODE;
        UPDATE follows SET created_at = created_at WHERE follower = late ->> 'user' AND followee = late ->> 'target';
        late := late || '{"do": "unfollow"}';
    ELSIF late ->> 'do' IN ('like', 'unlike') THEN
        LOCK TABLE likes IN SHARE ROW EXCLUSIVE MODE;
        UPDATE likes SET created_at = created_at WHERE post = item AND member = late ->> 'user';
        late := late || '{"do": "unlike"}';
    ELSE
        LOCK TABLE posts IN SHARE ROW EXCLUSIVE MODE;
        UPDATE posts SET body = body WHERE id = item;
        late := jsonb_build_object('do', 'delete', 'id', item);
    END IF;
    IF NOT FOUND THEN
        INSERT INTO tideline_outbox (change) VALUES (late);
        NOTIFY tideline;
    END IF;
END $$;
