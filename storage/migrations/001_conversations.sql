-- Conversations and their messages. Text a person or a model wrote is a blob: any bytes survive.
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE conversations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL DEFAULT '',
  title_by_person INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  system_prompt BLOB NOT NULL DEFAULT x'',
  settings TEXT NOT NULL DEFAULT '',
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  chosen_child INTEGER NOT NULL DEFAULT 0, -- the first message that is shown
  deleted_ms INTEGER,                      -- hidden, until it is purged or brought back
  owner TEXT NOT NULL DEFAULT ''           -- the process that made or hid it (storage/owner.h)
);

CREATE TABLE messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation INTEGER NOT NULL REFERENCES conversations (id),
  parent INTEGER REFERENCES messages (id), -- NULL: a first message
  role INTEGER NOT NULL,
  state INTEGER NOT NULL,
  content BLOB NOT NULL,
  token_ids BLOB NOT NULL DEFAULT x'',  -- int32, little endian
  origins BLOB NOT NULL DEFAULT x'',    -- one byte per token
  text_bytes BLOB NOT NULL DEFAULT x'', -- uint32, little endian
  sampling TEXT NOT NULL DEFAULT '',
  stats TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  created_ms INTEGER NOT NULL,
  chosen_child INTEGER NOT NULL DEFAULT 0, -- the answer or follow-up that is shown
  owner TEXT NOT NULL DEFAULT ''           -- the process that streams it
);
CREATE INDEX messages_by_parent ON messages (conversation, parent);
CREATE INDEX messages_parent ON messages (parent);
CREATE INDEX messages_streaming ON messages (state) WHERE state = 1;

-- The tail of an answer that is being written, in pieces; folded into the message when it ends.
CREATE TABLE answer_parts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  content BLOB NOT NULL,
  token_ids BLOB NOT NULL,
  origins BLOB NOT NULL,
  text_bytes BLOB NOT NULL
);
CREATE INDEX answer_parts_message ON answer_parts (message);
