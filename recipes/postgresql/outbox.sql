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

CREATE FUNCTION tideline_time(t timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT floor(extract(epoch FROM t) * 1000)::bigint $$;

CREATE FUNCTION tideline_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tideline_outbox (change) SELECT CASE TG_OP
        WHEN 'INSERT' THEN jsonb_build_object('do', 'follow', 'user', NEW.follower, 'target', NEW.followee,
                                              'since', tideline_time(NEW.created_at))
        ELSE jsonb_build_object('do', 'unfollow', 'user', OLD.follower, 'target', OLD.followee) END;
    NOTIFY tideline;
    RETURN NULL;
END $$;

CREATE FUNCTION tideline_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tideline_outbox (change) SELECT CASE TG_OP
        WHEN 'INSERT' THEN jsonb_build_object('do', 'publish', 'item', jsonb_build_object(
            'content_id', NEW.id, 'author_id', NEW.author, 'text', NEW.body, 'published_at', tideline_time(NEW.created_at)))
        WHEN 'UPDATE' THEN jsonb_build_object('do', 'edit', 'id', NEW.id, 'text', NEW.body)
        ELSE jsonb_build_object('do', 'delete', 'id', OLD.id) END;
    NOTIFY tideline;
    RETURN NULL;
END $$;

CREATE FUNCTION tideline_like() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tideline_outbox (change) SELECT CASE TG_OP
        WHEN 'INSERT' THEN jsonb_build_object('do', 'like', 'id', NEW.post, 'user', NEW.member,
                                              'since', tideline_time(NEW.created_at))
        ELSE jsonb_build_object('do', 'unlike', 'id', OLD.post, 'user', OLD.member) END;
    NOTIFY tideline;
    RETURN NULL;
END $$;

CREATE TRIGGER tideline AFTER INSERT OR DELETE ON follows FOR EACH ROW EXECUTE FUNCTION tideline_follow();
CREATE TRIGGER tideline AFTER INSERT OR DELETE OR UPDATE OF body ON posts FOR EACH ROW EXECUTE FUNCTION tideline_post();
CREATE TRIGGER tideline AFTER INSERT OR DELETE ON likes FOR EACH ROW EXECUTE FUNCTION tideline_like();
