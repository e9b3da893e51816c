-- A journal as the first version of the tables kept it: two runs of user/guard, one
-- of them denied, and a failure of user/broken an hour later.
CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE dispatch(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT NOT NULL, at_us INTEGER NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, workspace TEXT NOT NULL,
  event TEXT NOT NULL, tool TEXT NOT NULL, verdict TEXT NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX dispatch_run ON dispatch(run);
CREATE INDEX dispatch_at ON dispatch(at_us);
CREATE TABLE result(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  dispatch INTEGER NOT NULL, at_us INTEGER NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, event TEXT NOT NULL,
  hook TEXT NOT NULL, status TEXT NOT NULL, failure TEXT NOT NULL, verdict TEXT NOT NULL, elapsed_us INTEGER NOT NULL,
  body BLOB NOT NULL) STRICT;
CREATE INDEX result_at ON result(at_us);
CREATE INDEX result_dispatch ON result(dispatch);
CREATE INDEX result_session ON result(session, at_us);
CREATE INDEX result_hook ON result(hook, at_us);
CREATE INDEX result_failed ON result(hook, at_us) WHERE failure <> '';
CREATE INDEX result_notable ON result(at_us) WHERE failure <> '' OR verdict IN ('deny', 'ask', 'defer');
CREATE TABLE tally(
  hook TEXT NOT NULL, hour INTEGER NOT NULL, status TEXT NOT NULL, failure TEXT NOT NULL, verdict TEXT NOT NULL, bucket INTEGER NOT NULL,
  n INTEGER NOT NULL, last_us INTEGER NOT NULL,
  PRIMARY KEY(hook, hour, status, failure, verdict, bucket)) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('id', '0011223344556677'), ('dropped', '3'), ('damaged', '0');
INSERT INTO dispatch(run, at_us, agent, session, workspace, event, tool, verdict, body) VALUES
  ('r1', 1700000000000000, 'claude', 's1', '/w', 'PreToolUse', 'Bash', 'deny', CAST('{"run":"r1","time":"2023-11-14T22:13:20Z","event":"PreToolUse","tool":"Bash","verdict":"deny","elapsed_ms":3,"results":null}' AS BLOB)),
  ('r2', 1700000001000000, 'claude', 's1', '/w', 'PreToolUse', 'Bash', 'none', CAST('{"run":"r2","time":"2023-11-14T22:13:21Z","event":"PreToolUse","tool":"Bash","verdict":"none","elapsed_ms":3,"results":null}' AS BLOB)),
  ('r3', 1700003600000000, 'codex', 's2', '/w', 'Stop', '', 'none', CAST('{"run":"r3","time":"2023-11-14T23:13:20Z","event":"Stop","verdict":"none","elapsed_ms":9,"results":null}' AS BLOB));
INSERT INTO result(dispatch, at_us, session, agent, event, hook, status, failure, verdict, elapsed_us, body) VALUES
  (1, 1700000000000000, 's1', 'claude', 'PreToolUse', 'user/guard', 'blocked', '', 'deny', 2000, CAST('{"hook":"user/guard","status":"blocked","verdict":"deny","failure":"","reason":"no","exit_code":2,"elapsed_ms":2,"stderr":""}' AS BLOB)),
  (2, 1700000001000000, 's1', 'claude', 'PreToolUse', 'user/guard', 'success', '', 'none', 1000, CAST('{"hook":"user/guard","status":"success","verdict":"none","failure":"","reason":"","exit_code":0,"elapsed_ms":1,"stderr":""}' AS BLOB)),
  (3, 1700003600000000, 's2', 'codex', 'Stop', 'user/broken', 'failed', 'exit', 'none', 9000, CAST('{"hook":"user/broken","status":"failed","verdict":"none","failure":"exit","reason":"exit code 3","exit_code":3,"elapsed_ms":9,"stderr":""}' AS BLOB));
INSERT INTO tally VALUES
  ('user/guard', 472222, 'blocked', '', 'deny', 176, 1, 1700000000000000),
  ('user/guard', 472222, 'success', '', 'none', 160, 1, 1700000001000000),
  ('user/broken', 472223, 'failed', 'exit', 'none', 211, 1, 1700003600000000);
PRAGMA user_version = 1;
