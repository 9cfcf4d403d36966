#pragma once

namespace weir::store {

/// Private to the library. Raise kSchemaVersion with every change that an older program would misread.
inline constexpr int kSchemaVersion = 1;

/// "weir" in ASCII, in the file's header: tells our file from another program's.
inline constexpr int kApplicationId = 0x77656972;

/// What is sealed or completed cannot be changed, whoever asks: triggers refuse it.
inline constexpr const char* kSchema = R"sql(
CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;

CREATE TABLE plans (
  seal TEXT PRIMARY KEY CHECK (length(seal) >= 8),
  question_hash TEXT NOT NULL,
  canonical_json TEXT NOT NULL,
  binary TEXT NOT NULL,
  sealed_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'complete', 'void'))
) STRICT;
CREATE INDEX plans_by_question ON plans (question_hash, state, sealed_at);

CREATE TABLE starts (
  seal TEXT NOT NULL REFERENCES plans,
  kind TEXT NOT NULL CHECK (kind IN ('speed', 'footprint')),
  start_index INTEGER NOT NULL,
  status TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (seal, kind, start_index)
) STRICT;

CREATE TABLE blocks (
  seal TEXT NOT NULL,
  kind TEXT NOT NULL,
  start_index INTEGER NOT NULL,
  block_index INTEGER NOT NULL,
  completed_at INTEGER NOT NULL,
  json TEXT NOT NULL,
  UNIQUE (seal, kind, start_index, block_index),
  FOREIGN KEY (seal, kind, start_index) REFERENCES starts
) STRICT;

CREATE TABLE results (
  seal TEXT PRIMARY KEY REFERENCES plans,
  finished_at INTEGER NOT NULL,
  json TEXT NOT NULL
) STRICT;

CREATE TABLE curves (
  model TEXT NOT NULL,
  machine TEXT NOT NULL,
  library TEXT NOT NULL,
  cell TEXT NOT NULL,
  arm TEXT NOT NULL,
  cache_limit_bytes INTEGER,
  verdict TEXT NOT NULL,
  json TEXT NOT NULL,
  measured_at INTEGER NOT NULL,
  seal TEXT NOT NULL,
  UNIQUE (model, machine, library, cell, arm, seal)
) STRICT;

CREATE TRIGGER plans_are_sealed BEFORE UPDATE OF seal, question_hash, canonical_json, binary, sealed_at ON plans
BEGIN SELECT RAISE(ABORT, 'a sealed plan cannot be changed'); END;
CREATE TRIGGER plans_stay BEFORE DELETE ON plans
BEGIN SELECT RAISE(ABORT, 'a sealed plan cannot be removed'); END;
CREATE TRIGGER blocks_are_complete BEFORE UPDATE ON blocks
BEGIN SELECT RAISE(ABORT, 'a completed block cannot be changed'); END;
CREATE TRIGGER blocks_stay BEFORE DELETE ON blocks
BEGIN SELECT RAISE(ABORT, 'a completed block cannot be removed'); END;
)sql";

}  // namespace weir::store
