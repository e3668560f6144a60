-- One row per run of the agreement gate. Holds no text of prompts or answers.
CREATE TABLE agreement_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER NOT NULL,
  client TEXT NOT NULL,
  model TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  kernels TEXT NOT NULL,
  cache_type TEXT NOT NULL,
  prompts INTEGER NOT NULL,
  tokens INTEGER NOT NULL, -- asked for of each prompt
  passed INTEGER NOT NULL,
  engine_version TEXT NOT NULL,
  report TEXT NOT NULL -- JSON: the table
);
