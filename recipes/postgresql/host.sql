-- The tables of a host application, as an example. The ids may be of any type.
CREATE TABLE follows (
    follower   text NOT NULL,
    followee   text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (follower, followee)
);

CREATE TABLE posts (
    id         text PRIMARY KEY,
    author     text NOT NULL,
    body       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE likes (
    post       text NOT NULL REFERENCES posts ON DELETE CASCADE,
    member     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (post, member)
);
