-- The tables and indexes of both engines, in the words of both: each engine leaves out or replaces those of the
-- other (schema-files.ts). Functions, triggers and tables that only one engine has are in its own folder.
--
-- Times are UTC milliseconds, money is pico-dollars, both 64-bit integers: an amount stays below about nine
-- million USD per account, and the operations refuse more. Tables of money and usage are keyed by account
-- first. Text of ids and references is compared by its bytes whatever the database's locale.

-- The schema's own record: row 1 is this file, each further row a migration that was applied. In the form
-- of Postgrator, which writes the migrations.
CREATE TABLE schemaversion (
  version BIGINT PRIMARY KEY,
  name TEXT NOT NULL,
  md5 TEXT NOT NULL, -- of the SQL
  run_at TEXT NOT NULL
) STRICT;

-- === Accounts and keys ===

CREATE TABLE account (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  status TEXT COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')), -- a closed one is suspended
  external_id TEXT COLLATE "C", -- the operator's own id of the account holder
  contact TEXT COLLATE "C" NOT NULL DEFAULT '', -- e-mail address
  language TEXT COLLATE "C" NOT NULL DEFAULT 'en', -- of mails to the contact
  note TEXT COLLATE "C" NOT NULL DEFAULT '',
  bill_to TEXT NOT NULL DEFAULT '', -- lines that receipts name
  price_multiplier_ppm BIGINT NOT NULL DEFAULT 1000000 CHECK (price_multiplier_ppm >= 0),
  -- Limits; 0 = none.
  daily_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  monthly_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (monthly_limit_picos >= 0),
  rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0),
  window_minutes INTEGER NOT NULL DEFAULT 1 CHECK (window_minutes >= 1),
  tokens_per_minute BIGINT NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0),
  -- How far below zero the balance may go.
  credit_line_picos BIGINT NOT NULL DEFAULT 0 CHECK (credit_line_picos >= 0),
  largest_credit_line_picos BIGINT NOT NULL DEFAULT 0, -- that it has ever been, for the audit
  holds TEXT COLLATE "C" CHECK (holds IN ('likely', 'most')), -- NULL = as the setting says
  -- A credit has been booked. Until then a request needs its highest cost, whatever `holds` says.
  has_paid INTEGER NOT NULL DEFAULT 0,
  -- An alert is raised when the balance is lower. 0 = never.
  alert_below_picos BIGINT NOT NULL DEFAULT 0 CHECK (alert_below_picos >= 0),
  -- Always the sum of the account's entries; kept in the same transaction as each entry.
  balance_picos BIGINT NOT NULL DEFAULT 0,
  created_at_ms BIGINT NOT NULL,
  closed_at_ms BIGINT -- NULL = not closed
) STRICT WITH (fillfactor = 50); -- every hold and every charge rewrites a row of it, in place where there is room
CREATE UNIQUE INDEX account_by_external_id ON account (external_id);

-- One row per secret of any kind. The secret itself is never stored.
CREATE TABLE key (
  id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('client', 'reader', 'admin')),
  role TEXT COLLATE "C" CHECK (role IN ('viewer', 'operator', 'owner', 'credits')), -- of admin tokens
  account_id TEXT COLLATE "C" REFERENCES account (id),
  member_id TEXT COLLATE "C", -- the member who owns it; NULL = the account itself
  name TEXT COLLATE "C" NOT NULL DEFAULT '',
  head TEXT COLLATE "C" NOT NULL,
  secret_hash TEXT COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the whole secret, hex
  allowed_models TEXT COLLATE "C", -- JSON array of model ids; NULL = every model
  ip_ranges TEXT COLLATE "C", -- JSON array of CIDR texts; NULL = everywhere
  -- Limits; 0 = none.
  daily_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  monthly_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (monthly_limit_picos >= 0),
  total_limit_picos BIGINT NOT NULL DEFAULT 0 CHECK (total_limit_picos >= 0),
  rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0),
  tokens_per_minute BIGINT NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0),
  created_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT,
  revoked_at_ms BIGINT,
  CHECK ((kind = 'admin') = (account_id IS NULL))
) STRICT;
CREATE INDEX key_by_account ON key (account_id, id);
CREATE INDEX key_by_head ON key (head, id); -- a leaked secret is found by how it begins

-- Apart from the key, so that noting its use does not make gateways read their keys again.
CREATE TABLE key_use (
  key_id TEXT COLLATE "C" PRIMARY KEY,
  last_used_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions of operators in the console, and the codes of sign-in links. Both are kept as SHA-256 only, and
-- every gateway on the store accepts them.
CREATE TABLE session (
  id_hash TEXT COLLATE "C" PRIMARY KEY,
  token_id TEXT COLLATE "C" NOT NULL, -- the admin token whose rights it has, or oidc:ROLE:PERSON
  created_at_ms BIGINT NOT NULL,
  last_used_at_ms BIGINT NOT NULL, -- by a person, up to a minute late
  expires_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_token ON session (token_id, created_at_ms);

-- A row is deleted when its code is used.
CREATE TABLE sign_in_code (
  code_hash TEXT COLLATE "C" PRIMARY KEY,
  token_id TEXT COLLATE "C" NOT NULL,
  expires_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;

-- === Members ===

-- People who sign in for an account. A removed one keeps its row, so that the log of actions can name it.
CREATE TABLE member (
  id TEXT COLLATE "C" PRIMARY KEY, -- time-ordered
  account_id TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  email TEXT COLLATE "C" NOT NULL, -- in lower case
  role TEXT COLLATE "C" NOT NULL CHECK (role IN ('owner', 'member')),
  created_at_ms BIGINT NOT NULL,
  invited_at_ms BIGINT NOT NULL, -- when the last invitation was mailed
  signed_in_at_ms BIGINT, -- the last time; NULL = not yet
  removed_at_ms BIGINT
) STRICT;
CREATE UNIQUE INDEX member_of_account ON member (account_id, email) WHERE removed_at_ms IS NULL;
CREATE INDEX member_by_email ON member (email);
CREATE INDEX member_by_account ON member (account_id, id);

-- As table session, of members.
CREATE TABLE member_session (
  id_hash TEXT COLLATE "C" PRIMARY KEY,
  member_id TEXT COLLATE "C" NOT NULL,
  created_at_ms BIGINT NOT NULL,
  last_used_at_ms BIGINT NOT NULL, -- by a person, up to a minute late
  expires_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX member_session_by_member ON member_session (member_id, created_at_ms);

-- Links that sign a member in, or make an account. One that has ended stays until it expires: the mails of an address are counted.
CREATE TABLE sign_in_link (
  code_hash TEXT COLLATE "C" PRIMARY KEY,
  browser_hash TEXT COLLATE "C" NOT NULL, -- of the value that the asking browser keeps
  email TEXT COLLATE "C" NOT NULL,
  domain TEXT COLLATE "C" NOT NULL, -- of the address
  expires_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT, -- used, or replaced by a newer one
  is_sign_up INTEGER NOT NULL DEFAULT 0, -- it makes an account for an address without one
  invitation_hash TEXT COLLATE "C" -- of the top-up code that the new account redeems; NULL = none
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_link_by_email ON sign_in_link (email);
CREATE INDEX sign_in_link_by_domain ON sign_in_link (domain);

-- === Ledger ===

-- Append-only. A charge's reference is its exchange id, a credit's its idempotency key.
CREATE TABLE entry (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id TEXT COLLATE "C" NOT NULL REFERENCES account (id),
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('credit', 'charge', 'adjustment', 'refund')),
  reference TEXT COLLATE "C" NOT NULL,
  amount_picos BIGINT NOT NULL, -- signed: a charge is negative
  input_hash TEXT COLLATE "C", -- of the input under this reference; a repeat with other input is a conflict
  note TEXT COLLATE "C",
  created_at_ms BIGINT NOT NULL,
  -- What the receipt of a credit keeps; NULL = not known when it was booked.
  bill_to TEXT,
  tax_thousandths INTEGER, -- of a percent
  UNIQUE (account_id, reference)
) STRICT;

-- Credits, adjustments and refunds of one account; its charges are found by reference, whose exchange
-- ids are ordered by time.
CREATE INDEX entry_by_operator_of_account ON entry (account_id, sequence) WHERE kind <> 'charge';

-- === Proof: the entries of each account as a chain of hashes, see ledger/proof/ and docs/verify.md ===

-- Append-only. The place of an entry in the chain of its account.
CREATE TABLE sealed_entry (
  account_id TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL CHECK (place > 0), -- 1, 2, … without a gap
  sequence BIGINT NOT NULL UNIQUE, -- of table entry
  hash TEXT COLLATE "C" NOT NULL, -- SHA-256 of the hash before and of the entry, hex
  bill_hash TEXT COLLATE "C" NOT NULL, -- SHA-256 of its price lines, which may be gone; '' = it has none
  PRIMARY KEY (account_id, place)
) STRICT, WITHOUT ROWID;

-- Append-only. The end of a chain after an hour, signed.
CREATE TABLE sealed_head (
  account_id TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL, -- of the last entry
  hour_ms BIGINT NOT NULL, -- the end of the hour
  hash TEXT COLLATE "C" NOT NULL, -- of that entry
  sum_picos BIGINT NOT NULL, -- of all entries up to it
  key_id TEXT COLLATE "C" NOT NULL,
  signature TEXT COLLATE "C" NOT NULL, -- Ed25519, hex
  PRIMARY KEY (account_id, place)
) STRICT, WITHOUT ROWID;

-- The newest one signs. A key is signed by the one before it.
CREATE TABLE signing_key (
  id TEXT COLLATE "C" PRIMARY KEY, -- the first 16 digits of the SHA-256 of its public key
  public_key TEXT COLLATE "C" NOT NULL, -- hex
  private_key TEXT COLLATE "C" NOT NULL, -- sealed with the master key
  created_at_ms BIGINT NOT NULL,
  signed_by TEXT COLLATE "C", -- NULL = the first one, or its predecessor could not be opened
  signature TEXT COLLATE "C"
) STRICT;

-- One row: every entry up to this number is sealed, and the heads up to this hour are signed.
CREATE TABLE seal_mark (
  hour_ms BIGINT PRIMARY KEY,
  through_sequence BIGINT NOT NULL
) STRICT;

-- Top-up codes: money that waits for an account. A batch is made at once; its codes are stored as SHA-256 only.
CREATE TABLE code_batch (
  id TEXT COLLATE "C" PRIMARY KEY, -- time-ordered
  amount_picos BIGINT NOT NULL CHECK (amount_picos >= 0), -- of each code; 0 = it only invites to sign up
  code_count INTEGER NOT NULL CHECK (code_count > 0),
  note TEXT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL, -- as in operator_action
  created_at_ms BIGINT NOT NULL,
  expires_at_ms BIGINT -- NULL = never
) STRICT;

-- A code is redeemed in the transaction of its credit, whose reference is `code:` with the id.
CREATE TABLE code (
  id TEXT COLLATE "C" PRIMARY KEY,
  batch_id TEXT COLLATE "C" NOT NULL REFERENCES code_batch (id),
  secret_hash TEXT COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the whole code, hex
  head TEXT COLLATE "C" NOT NULL,
  account_id TEXT COLLATE "C" REFERENCES account (id), -- that has redeemed it
  redeemed_at_ms BIGINT,
  revoked_at_ms BIGINT,
  CHECK ((account_id IS NULL) = (redeemed_at_ms IS NULL)),
  CHECK (redeemed_at_ms IS NULL OR revoked_at_ms IS NULL)
) STRICT;
CREATE INDEX code_by_batch ON code (batch_id, id);

-- What Stripe has told of each payment, kept for ever; see operations/payments/payment.ts. Amounts are in
-- cents.
CREATE TABLE payment (
  id TEXT COLLATE "C" PRIMARY KEY, -- the payment intent
  account TEXT COLLATE "C", -- that it names, which may not exist
  currency TEXT COLLATE "C" NOT NULL,
  paid_cents BIGINT NOT NULL, -- 0 = not told yet
  refunded_cents BIGINT NOT NULL, -- in all
  taken_back_cents BIGINT NOT NULL, -- of the refunds, what is booked
  disputes TEXT NOT NULL, -- JSON: dispute → its amount, and whether it was won
  problem TEXT COLLATE "C" CHECK (problem IN ('unknown_account', 'foreign_currency', 'not_bookable', 'suspended')),
  changed_at_ms BIGINT NOT NULL
) STRICT;
CREATE INDEX payment_with_problem ON payment (changed_at_ms) WHERE problem IS NOT NULL;

-- One row per admitted exchange, charged or not; by it a statement explains a charge. A charge
-- belongs to the UTC day on which its exchange ended.
--
-- SQLite keeps row ids, on purpose: the wide rows are appended, and only the narrow keys are written at their
-- account's place. On PostgreSQL the table is partitioned by month along the exchange id, which begins with
-- the time it was made at: so the primary key holds across all partitions, no exchange can be recorded in two
-- of them, and old months are dropped as whole tables. That nothing is charged twice does not even depend on
-- it: entries are in one table and unique by (account, reference).
CREATE TABLE exchange (
  account_id TEXT COLLATE "C" NOT NULL,
  exchange_id TEXT COLLATE "C" NOT NULL, -- time-ordered
  key_id TEXT COLLATE "C" NOT NULL,
  vendor TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  operation TEXT COLLATE "C" NOT NULL,
  is_stream INTEGER NOT NULL,
  channel TEXT COLLATE "C",
  started_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT NOT NULL,
  ending TEXT COLLATE "C" NOT NULL,
  status INTEGER NOT NULL,
  attempt_count INTEGER NOT NULL,
  amount_picos BIGINT NOT NULL CHECK (amount_picos >= 0),
  usage TEXT COLLATE "C", -- JSON, see ledger/stored-usage.ts
  marks TEXT COLLATE "C" NOT NULL DEFAULT '', -- comma-separated
  price_lines TEXT COLLATE "C" NOT NULL DEFAULT '', -- count × price by class, as charged
  vendor_request_id TEXT COLLATE "C",
  operator_cost_picos BIGINT NOT NULL DEFAULT 0,
  first_event_ms BIGINT, -- from its start to the first event or byte delivered
  attempts TEXT COLLATE "C" NOT NULL DEFAULT '[]', -- JSON, see ledger/stored-attempts.ts
  code TEXT COLLATE "C", -- where the answer was an error of the gateway
  client TEXT COLLATE "C" NOT NULL DEFAULT '', -- family of its user agent; '' = unknown
  address TEXT COLLATE "C" NOT NULL DEFAULT '', -- as the setting record_addresses says
  -- What the answer cost the operator, by the prices of its channel.
  own_cost_picos BIGINT NOT NULL DEFAULT 0 CHECK (own_cost_picos >= 0),
  is_own_cost_known INTEGER NOT NULL DEFAULT 0,
  -- Its likely cost, where it came to nothing and is free for that; see ledger/waivers.ts.
  waived_picos BIGINT NOT NULL DEFAULT 0 CHECK (waived_picos >= 0),
  asked_model TEXT COLLATE "C", -- by which name the client asked, where that is not the model's id
  label TEXT COLLATE "C" NOT NULL DEFAULT '', -- as the client gave it; '' = none
  finish_reason TEXT COLLATE "C", -- the vendor's own word for why its answer ended
  PRIMARY KEY (account_id, exchange_id)
) STRICT PARTITION BY RANGE (exchange_id);

-- Exchanges of known callers that nothing is charged for: the gateway refused them before it held money, or
-- their operation is free. Without content. A flood has one row for many.
CREATE TABLE free_exchange (
  account_id TEXT COLLATE "C" NOT NULL,
  exchange_id TEXT COLLATE "C" NOT NULL, -- time-ordered
  key_id TEXT COLLATE "C" NOT NULL,
  vendor TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C", -- NULL = none of the catalogue, or not read
  operation TEXT COLLATE "C", -- NULL = the path is none of an operation
  channel TEXT COLLATE "C",
  started_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT NOT NULL, -- of the last exchange that the row counts
  ending TEXT COLLATE "C" NOT NULL,
  status INTEGER NOT NULL,
  code TEXT COLLATE "C", -- where the answer was an error of the gateway
  vendor_request_id TEXT COLLATE "C",
  attempts TEXT COLLATE "C" NOT NULL DEFAULT '[]', -- as in table exchange
  client TEXT COLLATE "C" NOT NULL DEFAULT '', -- family of its user agent; '' = unknown
  address TEXT COLLATE "C" NOT NULL DEFAULT '', -- as the setting record_addresses says
  stands_for BIGINT NOT NULL DEFAULT 1, -- how many exchanges the row counts
  asked_model TEXT COLLATE "C", -- as in table exchange
  label TEXT COLLATE "C" NOT NULL DEFAULT '', -- as in table exchange
  PRIMARY KEY (account_id, exchange_id)
) STRICT;

-- The request log reads the newest rows of all accounts, finds those that a filter selects, and counts them
-- by ending, without the rows themselves.
CREATE INDEX exchange_log ON exchange
  (exchange_id, account_id, key_id, model, channel, status, code, ending);
CREATE INDEX free_exchange_log ON free_exchange
  (exchange_id, account_id, key_id, model, channel, status, code);

-- A request is found by the vendor's own id too.
CREATE INDEX exchange_by_vendor_request ON exchange (vendor_request_id)
  WHERE vendor_request_id IS NOT NULL;
CREATE INDEX free_exchange_by_vendor_request ON free_exchange (vendor_request_id)
  WHERE vendor_request_id IS NOT NULL;

-- Sums up answers that an account left early or got empty, without its other requests.
CREATE INDEX exchange_waived ON exchange (account_id, exchange_id) WHERE waived_picos > 0;

-- Exchanges that ended before the newest `cut_ms` may be gone; written before the first of them goes.
-- Always 00:00 UTC of some day. Entries and sums are kept for ever.
CREATE TABLE exchange_cut (
  cut_ms BIGINT PRIMARY KEY,
  decided_at_ms BIGINT NOT NULL
) STRICT;

-- State of earlier answers that a vendor keeps, or that only its account can read: a later request may name
-- it, and no other account may. It holds no content.
CREATE TABLE answer_state (
  vendor TEXT NOT NULL,
  id TEXT NOT NULL, -- the vendor's; of encrypted content its SHA-256 as base64url
  kind TEXT NOT NULL CHECK (kind IN ('response', 'item', 'encrypted')),
  account_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  response_id TEXT, -- the stored answer it belongs to
  input_tokens BIGINT NOT NULL, -- of that answer
  output_tokens BIGINT NOT NULL,
  expires_at_ms BIGINT NOT NULL,
  PRIMARY KEY (vendor, id, kind, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_state_response ON answer_state (response_id) WHERE response_id IS NOT NULL;
CREATE INDEX answer_state_expiry ON answer_state (expires_at_ms);

-- All entries of the account with a time before `through_ms` have been found right and came to
-- `balance_picos`. Always 00:00 UTC of some day. Lost without harm: the next audit begins anew.
CREATE TABLE audit_checkpoint (
  account_id TEXT COLLATE "C" PRIMARY KEY REFERENCES account (id),
  through_ms BIGINT NOT NULL,
  balance_picos BIGINT NOT NULL,
  audited_at_ms BIGINT NOT NULL
) STRICT;

-- Audits of the ledger: one row for each that ran or could not run. Old rows are removed, but not the newest
-- result of each scope.
CREATE TABLE ledger_audit (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  scope TEXT COLLATE "C" NOT NULL CHECK (scope IN ('full', 'recent')), -- recent: since the checkpoints
  result TEXT COLLATE "C" NOT NULL CHECK (result IN ('passed', 'failed', 'not_run')),
  actor TEXT COLLATE "C" NOT NULL, -- as in operator_action; 'gateway:NAME' where a gateway ran it on schedule
  started_at_ms BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  exchanges_from_ms BIGINT NOT NULL, -- exchanges before are no longer kept; 0 = all are
  counts TEXT COLLATE "C" NOT NULL, -- JSON
  differences TEXT COLLATE "C" NOT NULL, -- JSON array; the first ones only
  error TEXT COLLATE "C" -- why it could not run
) STRICT;
CREATE INDEX ledger_audit_by_scope ON ledger_audit (scope, sequence);

-- === Usage and reports: kept for ever, so that a charge and a usage call cost the same in any year ===

CREATE TABLE usage_month (
  account_id TEXT COLLATE "C" NOT NULL,
  month TEXT COLLATE "C" NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  model TEXT COLLATE "C" NOT NULL,
  requests BIGINT NOT NULL,
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cache_tokens BIGINT NOT NULL,
  cost_picos BIGINT NOT NULL,
  PRIMARY KEY (account_id, month, model)
) STRICT, WITHOUT ROWID;

-- What each key has used: charges less refunds.
CREATE TABLE usage_key_month (
  account_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  month TEXT COLLATE "C" NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  cost_picos BIGINT NOT NULL,
  PRIMARY KEY (account_id, key_id, month)
) STRICT, WITHOUT ROWID WITH (fillfactor = 50);

-- Input and output tokens of requests by the second in which they ended, of accounts and keys with a
-- limit of tokens per minute. Rows older than two minutes are deleted.
CREATE TABLE token_minute (
  account_id TEXT COLLATE "C" NOT NULL,
  second BIGINT NOT NULL, -- since 1970
  key_id TEXT COLLATE "C" NOT NULL,
  tokens BIGINT NOT NULL,
  PRIMARY KEY (account_id, second, key_id)
) STRICT, WITHOUT ROWID WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

-- Sums for reports. A request belongs to the UTC day on which it ended. The columns first_event_… count
-- requests by their time to the first event: up to that many milliseconds, and more than the column before.
-- The order of the primary key adds up a day by model without sorting.
CREATE TABLE report_day (
  day TEXT COLLATE "C" NOT NULL, -- YYYY-MM-DD, UTC
  account_id TEXT COLLATE "C" NOT NULL,
  key_id TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  channel TEXT COLLATE "C" NOT NULL, -- '' = none answered
  label TEXT COLLATE "C" NOT NULL, -- '' = none; 'other' = one without a place in label_day
  requests BIGINT NOT NULL,
  charged_requests BIGINT NOT NULL,
  errors BIGINT NOT NULL, -- ended neither completed nor because the client left
  failovers BIGINT NOT NULL, -- attempts after the first
  known_cost_requests BIGINT NOT NULL, -- requests whose own cost is known
  input_tokens BIGINT NOT NULL,
  output_tokens BIGINT NOT NULL,
  cache_read_tokens BIGINT NOT NULL,
  cache_write_tokens BIGINT NOT NULL,
  prompt_tokens BIGINT NOT NULL, -- all input, from the cache or not
  first_event_le_100 BIGINT NOT NULL,
  first_event_le_200 BIGINT NOT NULL,
  first_event_le_300 BIGINT NOT NULL,
  first_event_le_500 BIGINT NOT NULL,
  first_event_le_750 BIGINT NOT NULL,
  first_event_le_1000 BIGINT NOT NULL,
  first_event_le_1500 BIGINT NOT NULL,
  first_event_le_2000 BIGINT NOT NULL,
  first_event_le_3000 BIGINT NOT NULL,
  first_event_le_5000 BIGINT NOT NULL,
  first_event_le_7500 BIGINT NOT NULL,
  first_event_le_10000 BIGINT NOT NULL,
  first_event_le_20000 BIGINT NOT NULL,
  first_event_le_60000 BIGINT NOT NULL,
  first_event_above BIGINT NOT NULL,
  revenue_picos BIGINT NOT NULL, -- charges; refunds are not subtracted
  own_cost_picos BIGINT NOT NULL,
  lost_cost_picos BIGINT NOT NULL, -- estimated cost of what no account pays
  refunded_picos BIGINT NOT NULL, -- of these charges, whenever they were refunded
  unknown_cost_revenue_picos BIGINT NOT NULL, -- charges less refunds of requests whose own cost is not known
  PRIMARY KEY (day, model, channel, account_id, key_id, label)
) STRICT, WITHOUT ROWID WITH (fillfactor = 70); -- most settled requests rewrite a row of it
CREATE INDEX report_day_by_account ON report_day (account_id, day, key_id);

-- The labels of an account that count for themselves in report_day: the first 200 of a day. A place that is
-- taken stays taken, so a label counts in one way all day. Rows are kept as long as exchanges.
CREATE TABLE label_day (
  account_id TEXT COLLATE "C" NOT NULL,
  day TEXT COLLATE "C" NOT NULL, -- YYYY-MM-DD, UTC
  label TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, day, label)
) STRICT, WITHOUT ROWID;

-- The sums of report_day over all accounts at a moment of the day. Rows older than a few days are deleted.
CREATE TABLE report_moment (
  day TEXT COLLATE "C" NOT NULL, -- YYYY-MM-DD, UTC
  minute BIGINT NOT NULL, -- of the day
  sums TEXT COLLATE "C" NOT NULL, -- JSON, by the columns of report_day
  PRIMARY KEY (day, minute)
) STRICT, WITHOUT ROWID;

-- === Catalogue: what a file no longer names is retired, never deleted ===

CREATE TABLE vendor (
  name TEXT COLLATE "C" PRIMARY KEY,
  format TEXT COLLATE "C" NOT NULL CHECK (format IN ('messages', 'chat')),
  credential TEXT COLLATE "C" NOT NULL CHECK (credential IN ('x-api-key', 'bearer', 'api-key')),
  version_header TEXT COLLATE "C",
  default_version TEXT COLLATE "C",
  require_max_tokens INTEGER NOT NULL DEFAULT 1,
  allowed_features TEXT COLLATE "C" NOT NULL DEFAULT '', -- comma-separated, see formats/format.ts
  -- Whether requests may name stored answers.
  stored_responses TEXT NOT NULL DEFAULT 'own' CHECK (stored_responses IN ('own', 'refuse')),
  retired_at_ms BIGINT
) STRICT;

CREATE TABLE model (
  id TEXT COLLATE "C" PRIMARY KEY,
  vendor TEXT COLLATE "C" NOT NULL REFERENCES vendor (name),
  -- What it offers ('chat', 'responses', 'embeddings', 'completions'), comma-separated. NULL: all that its
  -- prices allow.
  operations TEXT,
  max_output_tokens BIGINT,
  -- Ends each hold; held where bytes do not bound the input.
  max_input_tokens BIGINT CHECK (max_input_tokens > 0),
  image_tokens BIGINT CHECK (image_tokens > 0),
  first_event_timeout_ms BIGINT CHECK (first_event_timeout_ms > 0),
  -- How long pings alone keep a stream alive, where it differs from the gateway's setting.
  ping_timeout_ms BIGINT CHECK (ping_timeout_ms > 0),
  also TEXT, -- other names by which clients ask for it, comma-separated
  dated INTEGER, -- 1: it also answers to its id with a date behind it
  thinks INTEGER, -- 1: it may be silent for minutes
  created_at_ms BIGINT NOT NULL,
  retired_at_ms BIGINT
) STRICT;

-- Price versions; the newest with valid_from_ms in the past is in force.
CREATE TABLE price (
  model TEXT COLLATE "C" NOT NULL REFERENCES model (id),
  valid_from_ms BIGINT NOT NULL,
  prices TEXT COLLATE "C" NOT NULL, -- JSON as metering/price-book.ts reads it
  PRIMARY KEY (model, valid_from_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE channel (
  name TEXT COLLATE "C" PRIMARY KEY,
  vendor TEXT COLLATE "C" NOT NULL REFERENCES vendor (name),
  url TEXT COLLATE "C" NOT NULL,
  credential TEXT COLLATE "C" NOT NULL, -- 'env:NAME', 'file:PATH' or 'sealed:…' (AES-256-GCM, see storage/master-key.ts)
  credential_form TEXT COLLATE "C" CHECK (credential_form IN ('x-api-key', 'bearer', 'api-key')), -- NULL: the vendor's
  path TEXT COLLATE "C" NOT NULL DEFAULT '/v1', -- before the path of an endpoint
  chat_path TEXT COLLATE "C", -- the same of chat completions, for vendors of the messages format; NULL: it has none
  query TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON: name → value
  headers TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON: name → value, 'env:NAME' or 'file:PATH'
  proxy TEXT COLLATE "C", -- an HTTP proxy on the way; NULL: none
  stream_usage TEXT COLLATE "C" NOT NULL DEFAULT 'ask' CHECK (stream_usage IN ('ask', 'never')),
  drop_betas TEXT COLLATE "C" NOT NULL DEFAULT '', -- names with commas; see channels/catalogue/reach-kinds.ts
  models TEXT COLLATE "C" NOT NULL, -- JSON: model id → vendor-side name or null
  rank INTEGER NOT NULL DEFAULT 0,
  weight INTEGER NOT NULL DEFAULT 1 CHECK (weight >= 1),
  max_concurrent INTEGER,
  check_kind TEXT COLLATE "C" NOT NULL DEFAULT 'request' CHECK (check_kind IN ('request', 'models', 'none')),
  override TEXT COLLATE "C" NOT NULL DEFAULT 'enabled' CHECK (override IN ('enabled', 'disabled')),
  output_limit TEXT COLLATE "C", -- fields of requests that bound all billed output, with commas. NULL: those of the format
  first_event_timeout_ms BIGINT CHECK (first_event_timeout_ms > 0), -- NULL: the model's
  idle_timeout_ms BIGINT CHECK (idle_timeout_ms > 0), -- NULL: by the model
  -- JSON: model → p50Ms, p95Ms; usual times to the first event, in place of what the gateway would learn.
  baselines TEXT NOT NULL DEFAULT '{}',
  cost TEXT, -- what the operator pays: JSON in the form of the catalogue's `cost:`. NULL: not known
  allow_private INTEGER NOT NULL DEFAULT 0, -- 1: its address may be in a private network
  credential_set_at_ms BIGINT NOT NULL, -- when its present credential came
  retired_at_ms BIGINT
) STRICT;

-- The credentials that channels had before their present ones, for a day.
CREATE TABLE former_credential (
  channel TEXT COLLATE "C" PRIMARY KEY REFERENCES channel (name),
  credential TEXT COLLATE "C" NOT NULL, -- as in channel
  url TEXT COLLATE "C" NOT NULL, -- where the channel presented it
  replaced_at_ms BIGINT NOT NULL
) STRICT;

-- === Gateways and the health of channels ===

-- Gateway processes on this store. One that has not been seen for a while, or has ended, is gone.
CREATE TABLE gateway_node (
  id TEXT PRIMARY KEY, -- of the process
  name TEXT NOT NULL, -- as operators call it
  region TEXT NOT NULL,
  version TEXT COLLATE "C" NOT NULL, -- of the program
  commit_id TEXT COLLATE "C" NOT NULL, -- '' = not known
  is_draining BIGINT NOT NULL DEFAULT 0,
  -- JSON: addresses of peers that forward requests to it and are not among its trusted proxies.
  unlisted_proxies TEXT NOT NULL DEFAULT '[]',
  started_at_ms BIGINT NOT NULL,
  seen_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT
) STRICT, WITHOUT ROWID;

-- Gateways that ended without a clean stop: their last requests are not recorded.
CREATE TABLE unclean_stop (
  node TEXT PRIMARY KEY, -- id of the process, as in gateway_node
  name TEXT NOT NULL,
  started_at_ms BIGINT NOT NULL,
  seen_at_ms BIGINT NOT NULL, -- its last heartbeat
  found_at_ms BIGINT NOT NULL -- another process found that it was gone
) STRICT, WITHOUT ROWID;

-- Tasks that one node at a time does.
CREATE TABLE node_lease (
  task TEXT PRIMARY KEY,
  node TEXT NOT NULL,
  expires_at_ms BIGINT NOT NULL
) STRICT, WITHOUT ROWID;

-- Health of each model on each channel as the gateway last knew it, so that a restart resumes on
-- trial every model that was not on. Only the last state is kept here.
CREATE TABLE channel_health (
  channel TEXT COLLATE "C" NOT NULL,
  model TEXT COLLATE "C" NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  why TEXT COLLATE "C" NOT NULL,
  since_ms BIGINT NOT NULL,
  saved_at_ms BIGINT NOT NULL,
  detail TEXT COLLATE "C" NOT NULL, -- JSON, see channels/health/health-store.ts
  PRIMARY KEY (channel, model)
) STRICT, WITHOUT ROWID;

-- What each node last published. The rows of a node that is gone stay until another one publishes.
CREATE TABLE channel_state (
  node TEXT NOT NULL,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  why TEXT NOT NULL,
  since_ms BIGINT NOT NULL,
  published_at_ms BIGINT NOT NULL,
  detail TEXT NOT NULL, -- JSON, see channels/cluster/channel-states.ts
  PRIMARY KEY (node, channel, model)
) STRICT, WITHOUT ROWID;

-- Append-only. One row per change of a model's state on a channel, and per word of an operator's.
CREATE TABLE channel_change (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE, -- made by the writer, so that a repeated write adds nothing
  at_ms BIGINT NOT NULL,
  node TEXT NOT NULL DEFAULT '', -- empty: an operator's word, which goes for every node
  channel TEXT NOT NULL,
  model TEXT NOT NULL DEFAULT '', -- empty: all models of the channel
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  why TEXT NOT NULL,
  actor TEXT, -- the operator
  detail TEXT NOT NULL DEFAULT '{}' -- JSON, see channels/cluster/channel-history.ts
) STRICT;
CREATE INDEX channel_change_by_channel ON channel_change (channel, at_ms, sequence);
CREATE INDEX channel_change_by_time ON channel_change (at_ms, sequence);

-- An operator wants a channel checked now; every running gateway takes each row once.
CREATE TABLE channel_check (
  id TEXT PRIMARY KEY,
  asked_at_ms BIGINT NOT NULL,
  channel TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What each running gateway found when it made such a check.
CREATE TABLE channel_check_answer (
  check_id TEXT NOT NULL,
  node TEXT NOT NULL,
  at_ms BIGINT NOT NULL,
  is_complete INTEGER NOT NULL, -- 1: no further model follows
  detail TEXT NOT NULL, -- JSON, see channels/cluster/check-answers.ts
  PRIMARY KEY (check_id, node)
) STRICT, WITHOUT ROWID;

-- Append-only. What the gateway's own requests cost the operator; charged to no account.
CREATE TABLE operator_cost (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  at_ms BIGINT NOT NULL,
  node TEXT NOT NULL, -- empty: an operator's command
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('check')),
  usage TEXT NOT NULL, -- JSON: counts by price class
  amount_picos BIGINT NOT NULL CHECK (amount_picos >= 0),
  is_own_cost_known INTEGER NOT NULL DEFAULT 0 -- 1: at the channel's cost prices; 0: at list price, an estimate
) STRICT;
CREATE INDEX operator_cost_by_channel ON operator_cost (channel, at_ms);

-- === Operators ===

-- What operators did, append-only, written in the transaction of the change itself.
CREATE TABLE operator_action (
  sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_ms BIGINT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  detail TEXT COLLATE "C" NOT NULL DEFAULT '{}'
) STRICT;

-- Finds the last backup without reading the whole log.
CREATE INDEX operator_action_by_action ON operator_action (action, sequence);
-- What happened to one account, key or channel.
CREATE INDEX operator_action_by_subject ON operator_action (subject, sequence);

-- What operators note about an account, a key or a channel.
CREATE TABLE note (
  id TEXT COLLATE "C" PRIMARY KEY, -- time-ordered
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('account', 'key', 'channel')),
  subject TEXT COLLATE "C" NOT NULL, -- the id of the account or key, the name of the channel
  text TEXT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL, -- as in operator_action
  created_at_ms BIGINT NOT NULL
) STRICT;
CREATE INDEX note_by_subject ON note (kind, subject, id);

-- Comparisons with the files of a vendor; only the newest ones are kept.
CREATE TABLE reconciliation (
  id TEXT COLLATE "C" PRIMARY KEY, -- time-ordered
  at_ms BIGINT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL, -- as in operator_action
  channel TEXT NOT NULL, -- or `all`
  from_ms BIGINT NOT NULL,
  to_ms BIGINT NOT NULL, -- exclusive
  files TEXT NOT NULL, -- JSON: the name of each and its SHA-256
  vendor_picos BIGINT, -- NULL = no file names a cost
  expected_picos BIGINT NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  accepted_by TEXT COLLATE "C",
  accepted_at_ms BIGINT
) STRICT;

-- One row per request with an Idempotency-Key, kept for a day. The answer holds no secret.
CREATE TABLE idempotency_key (
  token_id TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL, -- as the client sent it
  request_hash TEXT COLLATE "C" NOT NULL,
  answer TEXT COLLATE "C" NOT NULL, -- JSON
  created_at_ms BIGINT NOT NULL,
  PRIMARY KEY (token_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_by_time ON idempotency_key (created_at_ms);

-- One row per cause, while it lasts, however many nodes find it.
CREATE TABLE alert (
  id TEXT PRIMARY KEY,
  cause TEXT NOT NULL UNIQUE, -- such as "channel alpha-main"
  account_id TEXT,
  conditions TEXT NOT NULL, -- JSON: those that hold, the worst first
  severity_max TEXT NOT NULL,
  condition_count INTEGER NOT NULL, -- that began since the first
  first_seen_at_ms BIGINT NOT NULL,
  last_seen_at_ms BIGINT NOT NULL, -- when a condition began the last time
  acknowledged_by TEXT,
  acknowledged_at_ms BIGINT,
  acknowledged_note TEXT,
  snoozed_until_ms BIGINT, -- NULL = acknowledged until it ends
  changed_at_ms BIGINT NOT NULL
) STRICT;

-- Who gets messages of alerts.
CREATE TABLE alert_target (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  format TEXT NOT NULL CHECK (format IN ('webhook', 'slack', 'email')),
  address TEXT NOT NULL, -- as it may be shown: an e-mail address, `contact`, or the origin of a URL
  sealed TEXT, -- webhook and slack: JSON of URL and secret, sealed with the master key
  min_severity TEXT NOT NULL CHECK (min_severity IN ('info', 'warning', 'critical')),
  created_at_ms BIGINT NOT NULL
) STRICT;

-- The outbox. Written in the transaction of the alert.
CREATE TABLE alert_delivery (
  id TEXT PRIMARY KEY, -- a receiver recognises a repeated message by it
  target_id TEXT NOT NULL,
  recipient TEXT NOT NULL, -- the contact of an account; empty: the address of the target
  language TEXT NOT NULL, -- of a mail to the contact of an account
  kind TEXT NOT NULL,
  notice TEXT NOT NULL, -- JSON: what the message says
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'dropped')),
  due_at_ms BIGINT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL, -- of the last attempt
  created_at_ms BIGINT NOT NULL,
  ended_at_ms BIGINT
) STRICT;

CREATE INDEX alert_delivery_waiting ON alert_delivery (target_id, due_at_ms) WHERE state = 'waiting';
CREATE INDEX alert_delivery_by_time ON alert_delivery (created_at_ms);

-- The highest share of a limit that was used in its latest period, so that each step is told once.
CREATE TABLE limit_step (
  account_id TEXT COLLATE "C" NOT NULL,
  limit_of TEXT COLLATE "C" NOT NULL CHECK (limit_of IN ('day', 'month')),
  period TEXT COLLATE "C" NOT NULL, -- YYYY-MM-DD or YYYY-MM, UTC
  limit_picos BIGINT NOT NULL, -- that the share is of
  step INTEGER NOT NULL, -- per cent; 100 = the limit is reached
  PRIMARY KEY (account_id, limit_of)
) STRICT, WITHOUT ROWID;

-- === Changes that running gateways follow ===

-- They watch these counters; triggers raise them, so no operation can forget to.
CREATE TABLE revision (
  area TEXT COLLATE "C" PRIMARY KEY CHECK (area IN ('access', 'accounts', 'balances', 'catalogue')),
  number BIGINT NOT NULL DEFAULT 0
) STRICT;

INSERT INTO revision (area) VALUES ('access'), ('accounts'), ('balances'), ('catalogue');
