PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE schemaversion (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  md5 TEXT NOT NULL, -- of the SQL
  run_at TEXT NOT NULL
) STRICT;
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')), -- a closed one is suspended
  external_id TEXT, -- the operator's own id of the account holder
  contact TEXT NOT NULL DEFAULT '', -- e-mail address
  language TEXT NOT NULL DEFAULT 'en', -- of mails to the contact
  note TEXT NOT NULL DEFAULT '',
  bill_to TEXT NOT NULL DEFAULT '', -- lines that receipts name
  price_multiplier_ppm INTEGER NOT NULL DEFAULT 1000000 CHECK (price_multiplier_ppm >= 0),
  -- Limits; 0 = none.
  daily_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  monthly_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (monthly_limit_picos >= 0),
  rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0),
  window_minutes INTEGER NOT NULL DEFAULT 1 CHECK (window_minutes >= 1),
  tokens_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0),
  -- How far below zero the balance may go.
  credit_line_picos INTEGER NOT NULL DEFAULT 0 CHECK (credit_line_picos >= 0),
  largest_credit_line_picos INTEGER NOT NULL DEFAULT 0, -- that it has ever been, for the audit
  holds TEXT CHECK (holds IN ('likely', 'most')), -- NULL = as the setting says
  -- A credit has been booked. Until then a request needs its highest cost, whatever `holds` says.
  has_paid INTEGER NOT NULL DEFAULT 0,
  -- An alert is raised when the balance is lower. 0 = never.
  alert_below_picos INTEGER NOT NULL DEFAULT 0 CHECK (alert_below_picos >= 0),
  -- Always the sum of the account's entries; kept in the same transaction as each entry.
  balance_picos INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL,
  closed_at_ms INTEGER -- NULL = not closed
) STRICT;
CREATE TABLE key (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('client', 'reader', 'admin')),
  role TEXT CHECK (role IN ('viewer', 'operator', 'owner', 'credits')), -- of admin tokens
  account_id TEXT REFERENCES account (id),
  member_id TEXT, -- the member who owns it; NULL = the account itself
  name TEXT NOT NULL DEFAULT '',
  head TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE, -- SHA-256 of the whole secret, hex
  allowed_models TEXT, -- JSON array of model ids; NULL = every model
  ip_ranges TEXT, -- JSON array of CIDR texts; NULL = everywhere
  -- Limits; 0 = none.
  daily_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (daily_limit_picos >= 0),
  monthly_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (monthly_limit_picos >= 0),
  total_limit_picos INTEGER NOT NULL DEFAULT 0 CHECK (total_limit_picos >= 0),
  rpm INTEGER NOT NULL DEFAULT 0 CHECK (rpm >= 0),
  tokens_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER,
  CHECK ((kind = 'admin') = (account_id IS NULL))
) STRICT;
CREATE TABLE key_use (
  key_id TEXT PRIMARY KEY,
  last_used_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE session (
  id_hash TEXT PRIMARY KEY,
  token_id TEXT NOT NULL, -- the admin token whose rights it has, or oidc:ROLE:PERSON
  created_at_ms INTEGER NOT NULL,
  last_used_at_ms INTEGER NOT NULL, -- by a person, up to a minute late
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sign_in_code (
  code_hash TEXT PRIMARY KEY,
  token_id TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE member (
  id TEXT PRIMARY KEY, -- time-ordered
  account_id TEXT NOT NULL REFERENCES account (id),
  email TEXT NOT NULL, -- in lower case
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  created_at_ms INTEGER NOT NULL,
  invited_at_ms INTEGER NOT NULL, -- when the last invitation was mailed
  signed_in_at_ms INTEGER, -- the last time; NULL = not yet
  removed_at_ms INTEGER
) STRICT;
CREATE TABLE member_session (
  id_hash TEXT PRIMARY KEY,
  member_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  last_used_at_ms INTEGER NOT NULL, -- by a person, up to a minute late
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sign_in_link (
  code_hash TEXT PRIMARY KEY,
  browser_hash TEXT NOT NULL, -- of the value that the asking browser keeps
  email TEXT NOT NULL,
  domain TEXT NOT NULL, -- of the address
  expires_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER, -- used, or replaced by a newer one
  is_sign_up INTEGER NOT NULL DEFAULT 0, -- it makes an account for an address without one
  invitation_hash TEXT -- of the top-up code that the new account redeems; NULL = none
) STRICT, WITHOUT ROWID;
CREATE TABLE entry (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES account (id),
  kind TEXT NOT NULL CHECK (kind IN ('credit', 'charge', 'adjustment', 'refund')),
  reference TEXT NOT NULL,
  amount_picos INTEGER NOT NULL, -- signed: a charge is negative
  input_hash TEXT, -- of the input under this reference; a repeat with other input is a conflict
  note TEXT,
  created_at_ms INTEGER NOT NULL,
  -- What the receipt of a credit keeps; NULL = not known when it was booked.
  bill_to TEXT,
  tax_thousandths INTEGER, -- of a percent
  UNIQUE (account_id, reference)
) STRICT;
CREATE TABLE sealed_entry (
  account_id TEXT NOT NULL,
  place INTEGER NOT NULL CHECK (place > 0), -- 1, 2, … without a gap
  sequence INTEGER NOT NULL UNIQUE, -- of table entry
  hash TEXT NOT NULL, -- SHA-256 of the hash before and of the entry, hex
  bill_hash TEXT NOT NULL, -- SHA-256 of its price lines, which may be gone; '' = it has none
  PRIMARY KEY (account_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE sealed_head (
  account_id TEXT NOT NULL,
  place INTEGER NOT NULL, -- of the last entry
  hour_ms INTEGER NOT NULL, -- the end of the hour
  hash TEXT NOT NULL, -- of that entry
  sum_picos INTEGER NOT NULL, -- of all entries up to it
  key_id TEXT NOT NULL,
  signature TEXT NOT NULL, -- Ed25519, hex
  PRIMARY KEY (account_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE signing_key (
  id TEXT PRIMARY KEY, -- the first 16 digits of the SHA-256 of its public key
  public_key TEXT NOT NULL, -- hex
  private_key TEXT NOT NULL, -- sealed with the master key
  created_at_ms INTEGER NOT NULL,
  signed_by TEXT, -- NULL = the first one, or its predecessor could not be opened
  signature TEXT
) STRICT;
CREATE TABLE seal_mark (
  hour_ms INTEGER PRIMARY KEY,
  through_sequence INTEGER NOT NULL
) STRICT;
CREATE TABLE code_batch (
  id TEXT PRIMARY KEY, -- time-ordered
  amount_picos INTEGER NOT NULL CHECK (amount_picos >= 0), -- of each code; 0 = it only invites to sign up
  code_count INTEGER NOT NULL CHECK (code_count > 0),
  note TEXT NOT NULL,
  actor TEXT NOT NULL, -- as in operator_action
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER -- NULL = never
) STRICT;
CREATE TABLE code (
  id TEXT PRIMARY KEY,
  batch_id TEXT NOT NULL REFERENCES code_batch (id),
  secret_hash TEXT NOT NULL UNIQUE, -- SHA-256 of the whole code, hex
  head TEXT NOT NULL,
  account_id TEXT REFERENCES account (id), -- that has redeemed it
  redeemed_at_ms INTEGER,
  revoked_at_ms INTEGER,
  CHECK ((account_id IS NULL) = (redeemed_at_ms IS NULL)),
  CHECK (redeemed_at_ms IS NULL OR revoked_at_ms IS NULL)
) STRICT;
CREATE TABLE payment (
  id TEXT PRIMARY KEY, -- the payment intent
  account TEXT, -- that it names, which may not exist
  currency TEXT NOT NULL,
  paid_cents INTEGER NOT NULL, -- 0 = not told yet
  refunded_cents INTEGER NOT NULL, -- in all
  taken_back_cents INTEGER NOT NULL, -- of the refunds, what is booked
  disputes TEXT NOT NULL, -- JSON: dispute → its amount, and whether it was won
  problem TEXT CHECK (problem IN ('unknown_account', 'foreign_currency', 'not_bookable', 'suspended')),
  changed_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE exchange (
  account_id TEXT NOT NULL,
  exchange_id TEXT NOT NULL, -- time-ordered
  key_id TEXT NOT NULL,
  vendor TEXT NOT NULL,
  model TEXT NOT NULL,
  operation TEXT NOT NULL,
  is_stream INTEGER NOT NULL,
  channel TEXT,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER NOT NULL,
  ending TEXT NOT NULL,
  status INTEGER NOT NULL,
  attempt_count INTEGER NOT NULL,
  amount_picos INTEGER NOT NULL CHECK (amount_picos >= 0),
  usage TEXT, -- JSON, see ledger/stored-usage.ts
  marks TEXT NOT NULL DEFAULT '', -- comma-separated
  price_lines TEXT NOT NULL DEFAULT '', -- count × price by class, as charged
  vendor_request_id TEXT,
  operator_cost_picos INTEGER NOT NULL DEFAULT 0,
  first_event_ms INTEGER, -- from its start to the first event or byte delivered
  attempts TEXT NOT NULL DEFAULT '[]', -- JSON, see ledger/stored-attempts.ts
  code TEXT, -- where the answer was an error of the gateway
  client TEXT NOT NULL DEFAULT '', -- family of its user agent; '' = unknown
  address TEXT NOT NULL DEFAULT '', -- as the setting record_addresses says
  -- What the answer cost the operator, by the prices of its channel.
  own_cost_picos INTEGER NOT NULL DEFAULT 0 CHECK (own_cost_picos >= 0),
  is_own_cost_known INTEGER NOT NULL DEFAULT 0,
  -- Its likely cost, where it came to nothing and is free for that; see ledger/waivers.ts.
  waived_picos INTEGER NOT NULL DEFAULT 0 CHECK (waived_picos >= 0),
  asked_model TEXT, -- by which name the client asked, where that is not the model's id
  label TEXT NOT NULL DEFAULT '', -- as the client gave it; '' = none
  finish_reason TEXT, -- the vendor's own word for why its answer ended
  PRIMARY KEY (account_id, exchange_id)
) STRICT;
CREATE TABLE free_exchange (
  account_id TEXT NOT NULL,
  exchange_id TEXT NOT NULL, -- time-ordered
  key_id TEXT NOT NULL,
  vendor TEXT NOT NULL,
  model TEXT, -- NULL = none of the catalogue, or not read
  operation TEXT, -- NULL = the path is none of an operation
  channel TEXT,
  started_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER NOT NULL, -- of the last exchange that the row counts
  ending TEXT NOT NULL,
  status INTEGER NOT NULL,
  code TEXT, -- where the answer was an error of the gateway
  vendor_request_id TEXT,
  attempts TEXT NOT NULL DEFAULT '[]', -- as in table exchange
  client TEXT NOT NULL DEFAULT '', -- family of its user agent; '' = unknown
  address TEXT NOT NULL DEFAULT '', -- as the setting record_addresses says
  stands_for INTEGER NOT NULL DEFAULT 1, -- how many exchanges the row counts
  asked_model TEXT, -- as in table exchange
  label TEXT NOT NULL DEFAULT '', -- as in table exchange
  PRIMARY KEY (account_id, exchange_id)
) STRICT;
CREATE TABLE exchange_cut (
  cut_ms INTEGER PRIMARY KEY,
  decided_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE answer_state (
  vendor TEXT NOT NULL,
  id TEXT NOT NULL, -- the vendor's; of encrypted content its SHA-256 as base64url
  kind TEXT NOT NULL CHECK (kind IN ('response', 'item', 'encrypted')),
  account_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  response_id TEXT, -- the stored answer it belongs to
  input_tokens INTEGER NOT NULL, -- of that answer
  output_tokens INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (vendor, id, kind, account_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_checkpoint (
  account_id TEXT PRIMARY KEY REFERENCES account (id),
  through_ms INTEGER NOT NULL,
  balance_picos INTEGER NOT NULL,
  audited_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE ledger_audit (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL CHECK (scope IN ('full', 'recent')), -- recent: since the checkpoints
  result TEXT NOT NULL CHECK (result IN ('passed', 'failed', 'not_run')),
  actor TEXT NOT NULL, -- as in operator_action; 'gateway:NAME' where a gateway ran it on schedule
  started_at_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  exchanges_from_ms INTEGER NOT NULL, -- exchanges before are no longer kept; 0 = all are
  counts TEXT NOT NULL, -- JSON
  differences TEXT NOT NULL, -- JSON array; the first ones only
  error TEXT -- why it could not run
) STRICT;
CREATE TABLE usage_month (
  account_id TEXT NOT NULL,
  month TEXT NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  model TEXT NOT NULL,
  requests INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_tokens INTEGER NOT NULL,
  cost_picos INTEGER NOT NULL,
  PRIMARY KEY (account_id, month, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_key_month (
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  month TEXT NOT NULL, -- YYYY-MM, UTC; 'total' = since ever
  cost_picos INTEGER NOT NULL,
  PRIMARY KEY (account_id, key_id, month)
) STRICT, WITHOUT ROWID;
CREATE TABLE token_minute (
  account_id TEXT NOT NULL,
  second INTEGER NOT NULL, -- since 1970
  key_id TEXT NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (account_id, second, key_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE report_day (
  day TEXT NOT NULL, -- YYYY-MM-DD, UTC
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  channel TEXT NOT NULL, -- '' = none answered
  label TEXT NOT NULL, -- '' = none; 'other' = one without a place in label_day
  requests INTEGER NOT NULL,
  charged_requests INTEGER NOT NULL,
  errors INTEGER NOT NULL, -- ended neither completed nor because the client left
  failovers INTEGER NOT NULL, -- attempts after the first
  known_cost_requests INTEGER NOT NULL, -- requests whose own cost is known
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL, -- all input, from the cache or not
  first_event_le_100 INTEGER NOT NULL,
  first_event_le_200 INTEGER NOT NULL,
  first_event_le_300 INTEGER NOT NULL,
  first_event_le_500 INTEGER NOT NULL,
  first_event_le_750 INTEGER NOT NULL,
  first_event_le_1000 INTEGER NOT NULL,
  first_event_le_1500 INTEGER NOT NULL,
  first_event_le_2000 INTEGER NOT NULL,
  first_event_le_3000 INTEGER NOT NULL,
  first_event_le_5000 INTEGER NOT NULL,
  first_event_le_7500 INTEGER NOT NULL,
  first_event_le_10000 INTEGER NOT NULL,
  first_event_le_20000 INTEGER NOT NULL,
  first_event_le_60000 INTEGER NOT NULL,
  first_event_above INTEGER NOT NULL,
  revenue_picos INTEGER NOT NULL, -- charges; refunds are not subtracted
  own_cost_picos INTEGER NOT NULL,
  lost_cost_picos INTEGER NOT NULL, -- estimated cost of what no account pays
  refunded_picos INTEGER NOT NULL, -- of these charges, whenever they were refunded
  unknown_cost_revenue_picos INTEGER NOT NULL, -- charges less refunds of requests whose own cost is not known
  PRIMARY KEY (day, model, channel, account_id, key_id, label)
) STRICT, WITHOUT ROWID;
CREATE TABLE label_day (
  account_id TEXT NOT NULL,
  day TEXT NOT NULL, -- YYYY-MM-DD, UTC
  label TEXT NOT NULL,
  PRIMARY KEY (account_id, day, label)
) STRICT, WITHOUT ROWID;
CREATE TABLE report_moment (
  day TEXT NOT NULL, -- YYYY-MM-DD, UTC
  minute INTEGER NOT NULL, -- of the day
  sums TEXT NOT NULL, -- JSON, by the columns of report_day
  PRIMARY KEY (day, minute)
) STRICT, WITHOUT ROWID;
CREATE TABLE vendor (
  name TEXT PRIMARY KEY,
  format TEXT NOT NULL CHECK (format IN ('messages', 'chat')),
  credential TEXT NOT NULL CHECK (credential IN ('x-api-key', 'bearer', 'api-key')),
  version_header TEXT,
  default_version TEXT,
  require_max_tokens INTEGER NOT NULL DEFAULT 1,
  allowed_features TEXT NOT NULL DEFAULT '', -- comma-separated, see formats/format.ts
  -- Whether requests may name stored answers.
  stored_responses TEXT NOT NULL DEFAULT 'own' CHECK (stored_responses IN ('own', 'refuse')),
  retired_at_ms INTEGER
) STRICT;
CREATE TABLE model (
  id TEXT PRIMARY KEY,
  vendor TEXT NOT NULL REFERENCES vendor (name),
  -- What it offers ('chat', 'responses', 'embeddings', 'completions'), comma-separated. NULL: all that its
  -- prices allow.
  operations TEXT,
  max_output_tokens INTEGER,
  -- Ends each hold; held where bytes do not bound the input.
  max_input_tokens INTEGER CHECK (max_input_tokens > 0),
  image_tokens INTEGER CHECK (image_tokens > 0),
  first_event_timeout_ms INTEGER CHECK (first_event_timeout_ms > 0),
  -- How long pings alone keep a stream alive, where it differs from the gateway's setting.
  ping_timeout_ms INTEGER CHECK (ping_timeout_ms > 0),
  also TEXT, -- other names by which clients ask for it, comma-separated
  dated INTEGER, -- 1: it also answers to its id with a date behind it
  thinks INTEGER, -- 1: it may be silent for minutes
  created_at_ms INTEGER NOT NULL,
  retired_at_ms INTEGER
) STRICT;
CREATE TABLE price (
  model TEXT NOT NULL REFERENCES model (id),
  valid_from_ms INTEGER NOT NULL,
  prices TEXT NOT NULL, -- JSON as metering/price-book.ts reads it
  PRIMARY KEY (model, valid_from_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE channel (
  name TEXT PRIMARY KEY,
  vendor TEXT NOT NULL REFERENCES vendor (name),
  url TEXT NOT NULL,
  credential TEXT NOT NULL, -- 'env:NAME', 'file:PATH' or 'sealed:…' (AES-256-GCM, see storage/master-key.ts)
  credential_form TEXT CHECK (credential_form IN ('x-api-key', 'bearer', 'api-key')), -- NULL: the vendor's
  path TEXT NOT NULL DEFAULT '/v1', -- before the path of an endpoint
  chat_path TEXT, -- the same of chat completions, for vendors of the messages format; NULL: it has none
  query TEXT NOT NULL DEFAULT '{}', -- JSON: name → value
  headers TEXT NOT NULL DEFAULT '{}', -- JSON: name → value, 'env:NAME' or 'file:PATH'
  proxy TEXT, -- an HTTP proxy on the way; NULL: none
  stream_usage TEXT NOT NULL DEFAULT 'ask' CHECK (stream_usage IN ('ask', 'never')),
  drop_betas TEXT NOT NULL DEFAULT '', -- names with commas; see channels/catalogue/reach-kinds.ts
  models TEXT NOT NULL, -- JSON: model id → vendor-side name or null
  rank INTEGER NOT NULL DEFAULT 0,
  weight INTEGER NOT NULL DEFAULT 1 CHECK (weight >= 1),
  max_concurrent INTEGER,
  check_kind TEXT NOT NULL DEFAULT 'request' CHECK (check_kind IN ('request', 'models', 'none')),
  override TEXT NOT NULL DEFAULT 'enabled' CHECK (override IN ('enabled', 'disabled')),
  output_limit TEXT, -- fields of requests that bound all billed output, with commas. NULL: those of the format
  first_event_timeout_ms INTEGER CHECK (first_event_timeout_ms > 0), -- NULL: the model's
  idle_timeout_ms INTEGER CHECK (idle_timeout_ms > 0), -- NULL: by the model
  -- JSON: model → p50Ms, p95Ms; usual times to the first event, in place of what the gateway would learn.
  baselines TEXT NOT NULL DEFAULT '{}',
  cost TEXT, -- what the operator pays: JSON in the form of the catalogue's `cost:`. NULL: not known
  allow_private INTEGER NOT NULL DEFAULT 0, -- 1: its address may be in a private network
  credential_set_at_ms INTEGER NOT NULL, -- when its present credential came
  retired_at_ms INTEGER
) STRICT;
CREATE TABLE former_credential (
  channel TEXT PRIMARY KEY REFERENCES channel (name),
  credential TEXT NOT NULL, -- as in channel
  url TEXT NOT NULL, -- where the channel presented it
  replaced_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE gateway_node (
  id TEXT PRIMARY KEY, -- of the process
  name TEXT NOT NULL, -- as operators call it
  region TEXT NOT NULL,
  version TEXT NOT NULL, -- of the program
  commit_id TEXT NOT NULL, -- '' = not known
  is_draining INTEGER NOT NULL DEFAULT 0,
  -- JSON: addresses of peers that forward requests to it and are not among its trusted proxies.
  unlisted_proxies TEXT NOT NULL DEFAULT '[]',
  started_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE unclean_stop (
  node TEXT PRIMARY KEY, -- id of the process, as in gateway_node
  name TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  seen_at_ms INTEGER NOT NULL, -- its last heartbeat
  found_at_ms INTEGER NOT NULL -- another process found that it was gone
) STRICT, WITHOUT ROWID;
CREATE TABLE node_lease (
  task TEXT PRIMARY KEY,
  node TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE channel_health (
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  why TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  saved_at_ms INTEGER NOT NULL,
  detail TEXT NOT NULL, -- JSON, see channels/health/health-store.ts
  PRIMARY KEY (channel, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE channel_state (
  node TEXT NOT NULL,
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  mode TEXT NOT NULL,
  why TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  published_at_ms INTEGER NOT NULL,
  detail TEXT NOT NULL, -- JSON, see channels/cluster/channel-states.ts
  PRIMARY KEY (node, channel, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE channel_change (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE, -- made by the writer, so that a repeated write adds nothing
  at_ms INTEGER NOT NULL,
  node TEXT NOT NULL DEFAULT '', -- empty: an operator's word, which goes for every node
  channel TEXT NOT NULL,
  model TEXT NOT NULL DEFAULT '', -- empty: all models of the channel
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  why TEXT NOT NULL,
  actor TEXT, -- the operator
  detail TEXT NOT NULL DEFAULT '{}' -- JSON, see channels/cluster/channel-history.ts
) STRICT;
CREATE TABLE channel_check (
  id TEXT PRIMARY KEY,
  asked_at_ms INTEGER NOT NULL,
  channel TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE channel_check_answer (
  check_id TEXT NOT NULL,
  node TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  is_complete INTEGER NOT NULL, -- 1: no further model follows
  detail TEXT NOT NULL, -- JSON, see channels/cluster/check-answers.ts
  PRIMARY KEY (check_id, node)
) STRICT, WITHOUT ROWID;
CREATE TABLE operator_cost (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at_ms INTEGER NOT NULL,
  node TEXT NOT NULL, -- empty: an operator's command
  channel TEXT NOT NULL,
  model TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('check')),
  usage TEXT NOT NULL, -- JSON: counts by price class
  amount_picos INTEGER NOT NULL CHECK (amount_picos >= 0),
  is_own_cost_known INTEGER NOT NULL DEFAULT 0 -- 1: at the channel's cost prices; 0: at list price, an estimate
) STRICT;
CREATE TABLE operator_action (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE TABLE note (
  id TEXT PRIMARY KEY, -- time-ordered
  kind TEXT NOT NULL CHECK (kind IN ('account', 'key', 'channel')),
  subject TEXT NOT NULL, -- the id of the account or key, the name of the channel
  text TEXT NOT NULL,
  actor TEXT NOT NULL, -- as in operator_action
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE reconciliation (
  id TEXT PRIMARY KEY, -- time-ordered
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL, -- as in operator_action
  channel TEXT NOT NULL, -- or `all`
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL, -- exclusive
  files TEXT NOT NULL, -- JSON: the name of each and its SHA-256
  vendor_picos INTEGER, -- NULL = no file names a cost
  expected_picos INTEGER NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  accepted_by TEXT,
  accepted_at_ms INTEGER
) STRICT;
CREATE TABLE idempotency_key (
  token_id TEXT NOT NULL,
  name TEXT NOT NULL, -- as the client sent it
  request_hash TEXT NOT NULL,
  answer TEXT NOT NULL, -- JSON
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (token_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE alert (
  id TEXT PRIMARY KEY,
  cause TEXT NOT NULL UNIQUE, -- such as "channel alpha-main"
  account_id TEXT,
  conditions TEXT NOT NULL, -- JSON: those that hold, the worst first
  severity_max TEXT NOT NULL,
  condition_count INTEGER NOT NULL, -- that began since the first
  first_seen_at_ms INTEGER NOT NULL,
  last_seen_at_ms INTEGER NOT NULL, -- when a condition began the last time
  acknowledged_by TEXT,
  acknowledged_at_ms INTEGER,
  acknowledged_note TEXT,
  snoozed_until_ms INTEGER, -- NULL = acknowledged until it ends
  changed_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE alert_target (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  format TEXT NOT NULL CHECK (format IN ('webhook', 'slack', 'email')),
  address TEXT NOT NULL, -- as it may be shown: an e-mail address, `contact`, or the origin of a URL
  sealed TEXT, -- webhook and slack: JSON of URL and secret, sealed with the master key
  min_severity TEXT NOT NULL CHECK (min_severity IN ('info', 'warning', 'critical')),
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE alert_delivery (
  id TEXT PRIMARY KEY, -- a receiver recognises a repeated message by it
  target_id TEXT NOT NULL,
  recipient TEXT NOT NULL, -- the contact of an account; empty: the address of the target
  language TEXT NOT NULL, -- of a mail to the contact of an account
  kind TEXT NOT NULL,
  notice TEXT NOT NULL, -- JSON: what the message says
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed', 'dropped')),
  due_at_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL, -- of the last attempt
  created_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT;
CREATE TABLE limit_step (
  account_id TEXT NOT NULL,
  limit_of TEXT NOT NULL CHECK (limit_of IN ('day', 'month')),
  period TEXT NOT NULL, -- YYYY-MM-DD or YYYY-MM, UTC
  limit_picos INTEGER NOT NULL, -- that the share is of
  step INTEGER NOT NULL, -- per cent; 100 = the limit is reached
  PRIMARY KEY (account_id, limit_of)
) STRICT, WITHOUT ROWID;
CREATE TABLE revision (
  area TEXT PRIMARY KEY CHECK (area IN ('access', 'accounts', 'balances', 'catalogue')),
  number INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "schemaversion" VALUES (1, 'schema', '621c7ba3a01f6961e6d680dc18d43be1', '2026-11-27 16:21:47');
INSERT INTO "account" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'kept', 'active', NULL, '', 'en', '', '', 1000000, 0, 50000000000000, 0, 1, 0, 0, 0, NULL, 1, 0, 99999187000000, 1795796508015, NULL);
INSERT INTO "account" VALUES ('acc_01m8ex09mwetepqbgfjjpza194', 'account-1', 'active', NULL, '', 'en', '', '', 1000000, 1000000000000, 0, 60, 1, 0, 0, 0, NULL, 1, 0, 10000000000000, 1795796510364, NULL);
INSERT INTO "key" VALUES ('key_01m8ex07m7c18d3x587ycr48x8', 'client', NULL, 'acc_01m8ex07bfgxx7c20zzbg7f904', NULL, 'later', 'cr_5hx6…', '4ce6e9d5021afd421b9f6a4f9eb0dae16a5c7eed0fca63560f1e5fe9a31c0670', NULL, NULL, 0, 0, 0, 0, 0, 1795796508295, NULL, NULL);
INSERT INTO "key" VALUES ('key_01m8ex09nzq2sehnr34vxpt7cc', 'client', NULL, 'acc_01m8ex09mwetepqbgfjjpza194', NULL, 'test', 'cr_nx6O…', '8d014bd2d876398f80e98bd6b3e1bbe2c4432eeabe713b9ac7e0f8ef9bfbaf38', NULL, NULL, 0, 0, 0, 0, 0, 1795796510399, NULL, NULL);
INSERT INTO "key" VALUES ('key_01m8ex09q2kzd6bwtsxy87qneq', 'reader', NULL, 'acc_01m8ex09mwetepqbgfjjpza194', NULL, 'test', 'ro_A5ak…', '83e3cbdb7e7f12d43332ab31164b0324e71e67036779b41a3d5dc2bcac912417', NULL, NULL, 0, 0, 0, 0, 0, 1795796510434, NULL, NULL);
INSERT INTO "key" VALUES ('key_01m8ex09t48jxfe4w7t40x0g0z', 'client', NULL, 'acc_01m8ex09mwetepqbgfjjpza194', NULL, 'old', 'cr_APj5…', 'c5ec157cf131447ab83140fe09fc0a46334d8860705a9cf83cd76a0276ebf05c', NULL, NULL, 0, 0, 0, 0, 0, 1795796510532, NULL, 1795796510552);
INSERT INTO "key" VALUES ('key_01m8ex09w81tdqy6dcpqvt142d', 'admin', 'owner', NULL, NULL, 'kept', 'ad_xmve…', 'fcc9e7cefcf9d2c0624226984ce135b118b3f9a671fd8982fe85e8499d31abf9', NULL, NULL, 0, 0, 0, 0, 0, 1795796510600, NULL, NULL);
INSERT INTO "entry" VALUES (1, 'acc_01m8ex07bfgxx7c20zzbg7f904', 'credit', 'opening-balance', 100000000000000, '8547a949809285c578ad2c1834bcdea2ea6a7a34a67ee6e6952f26b76702ff36', NULL, 1795796508020, NULL, NULL);
INSERT INTO "entry" VALUES (2, 'acc_01m8ex07bfgxx7c20zzbg7f904', 'charge', 'ex_01m8ex08zav0w3xdyvfsz27w91', -351000000, NULL, NULL, 1795796509907, NULL, NULL);
INSERT INTO "entry" VALUES (3, 'acc_01m8ex07bfgxx7c20zzbg7f904', 'charge', 'ex_01m8ex09b4h0j63n48spbae6fw', -234000000, NULL, NULL, 1795796510169, NULL, NULL);
INSERT INTO "entry" VALUES (4, 'acc_01m8ex07bfgxx7c20zzbg7f904', 'charge', 'ex_01m8ex09fwdw9wssr7wtvesssy', -234000000, NULL, NULL, 1795796510237, NULL, NULL);
INSERT INTO "entry" VALUES (5, 'acc_01m8ex07bfgxx7c20zzbg7f904', 'charge', 'ex_01m8ex09hh6v8vd6bfhj9rs9bb', -4000000, NULL, NULL, 1795796510286, NULL, NULL);
INSERT INTO "entry" VALUES (6, 'acc_01m8ex09mwetepqbgfjjpza194', 'credit', 'opening-balance', 5000000000000, '21454956292d830106d86f671422c8bb2c8a7f9aeba9d6df29f329040ce4620a', NULL, 1795796510365, NULL, NULL);
INSERT INTO "entry" VALUES (7, 'acc_01m8ex09mwetepqbgfjjpza194', 'credit', 'bank-1', 2000000000000, '850ead6cb5290eee1e3a9279df2e57e33094d1d87de11c8a82667d2e119718b9', NULL, 1795796510452, NULL, NULL);
INSERT INTO "entry" VALUES (8, 'acc_01m8ex07bfgxx7c20zzbg7f904', 'refund', 'refund:ex_01m8ex08zav0w3xdyvfsz27w91', 10000000, 'e20f7c638779af90e6015413c22c7d4a3252fd72158b3e861f57c9f7fef33c45', NULL, 1795796510491, NULL, NULL);
INSERT INTO "entry" VALUES (9, 'acc_01m8ex09mwetepqbgfjjpza194', 'credit', 'bank-2', 3000000000000, '0f2c92b81775a950a260a929d19689db87ef181ca85f458cf13a6de0f85aff4d', NULL, 1795796512695, NULL, NULL);
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 1, 1, 'f9235a338e5b939233b2985ef7d3c33164311bcc1f9fdc0dce76f89bbc836e1a', '');
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 2, 2, 'ebc3fc39c0ee9a54e61fc13853fe3d4929555e821125d73f4d846b6f50d9ec4a', 'ebfe12bb215ba7bbc16c2734b2d99ded6112999f5b5529486aff75b847a2369f');
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 3, 3, 'cb660b42fcc1c0f7b836a5184c7dd42883a9bfa0163b8120cd1d62193bd03f50', 'cb8ed6d66aa03d41c660f56396388e3e804158221d9185e9e3268602770643ab');
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 4, 4, '084a2a928609723293ed377ff8b62981aff89b42bf736e50c55a142f8521a10c', 'cb8ed6d66aa03d41c660f56396388e3e804158221d9185e9e3268602770643ab');
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 5, 5, '1399778a87993d7da26b2134279ce85c31dfcdea566ee9f8cdcccd12e09bbff0', 'd601a17e26375d7c1d9002de18ac3baf3f4d7289e0c8557cda86dc2dc06b79d4');
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 6, 8, 'c3db31c738d3d43b45cbe8e5ea7ab3ab049389e14a0153fd4e64bbab6d47b137', '');
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex09mwetepqbgfjjpza194', 1, 6, '4fe95d12645c7962a05b62518f3a67f5381c5359c8160955194eee5bb28a0f9d', '');
INSERT INTO "sealed_entry" VALUES ('acc_01m8ex09mwetepqbgfjjpza194', 2, 7, '751efb130c3c2cdd0b9fd9020cad1265da39e031434fbb8d40923c42cf558e10', '');
INSERT INTO "sealed_head" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 6, 1795798800000, 'c3db31c738d3d43b45cbe8e5ea7ab3ab049389e14a0153fd4e64bbab6d47b137', 99999187000000, '0f88d64ba508ec26', 'bb6b73c95d6755d23f3e9801e1b3b1a9f1ffcb44f94e200c85241015b65f0676ce26d149c59a79bdd68808b0f4a768fdeffde69759c0a199b079363ee95ab90d');
INSERT INTO "sealed_head" VALUES ('acc_01m8ex09mwetepqbgfjjpza194', 2, 1795798800000, '751efb130c3c2cdd0b9fd9020cad1265da39e031434fbb8d40923c42cf558e10', 7000000000000, '0f88d64ba508ec26', '0d627b9f812b7f668fa68a582091bb8dce9f58cd600ec32bd48ad94449a6076e57a4769287f9901f02dfcfbdcb10d399c3d857121de8537329c8a26ef0c19806');
INSERT INTO "signing_key" VALUES ('0f88d64ba508ec26', '00489df2e25b71bacf4c8560b1c55bb0e29d0aa687277c95ab96e20f7aae96b4', 'sealed:v1.351e4cf1.7LWaxs7TsXDnz2Nvfw6xTD5--ABtwfMLuzMFXjtwVfKpUpb3PCQ3h2DTZ22bPNrLl8bWU3ozRCArqWpfi1eEcIjbZrjbKzUcYkHXFjZBpC93DjSyUaAavYEdyq0', 1795800111347, NULL, NULL);
INSERT INTO "seal_mark" VALUES (1795798800000, 8);
INSERT INTO "code_batch" VALUES ('batch_01m8ex0ah7th3bczbpfejtee9n', 10000000000000, 2, '', 'key_01m8ex09w81tdqy6dcpqvt142d', 1795796511271, NULL);
INSERT INTO "code" VALUES ('code_01m8ex0ah78n1bphk58xvcg5q1', 'batch_01m8ex0ah7th3bczbpfejtee9n', '150d33e72736d9332e63597f646cd38bddd29ec5bc7b01a0bfc65974f20ac669', 'tc_nZKn…', NULL, NULL, NULL);
INSERT INTO "code" VALUES ('code_01m8ex0ah7v0zz8e0jyhynwx1n', 'batch_01m8ex0ah7th3bczbpfejtee9n', '3525c7314fae8cacc40907be1e070727487bf07d088ffde7a6ff69ccf239f626', 'tc_eSW4…', NULL, NULL, NULL);
INSERT INTO "exchange" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'ex_01m8ex08zav0w3xdyvfsz27w91', 'key_01m8ex07m7c18d3x587ycr48x8', 'alpha', 'large-1', 'messages.create', 1, 'alpha-main', 1795796509674, 1795796509907, 'completed', 200, 1, 351000000, '[[2,23],["large-1",{"input":2,"output":23},{"tier":"standard","speed":"standard","geo":"global"}]]', '', '{"parts":[{"model":"large-1","lines":[["input",2,"3000000"],["output",23,"15000000"]]}]}', 'req_011sandbox000000000000', 0, 191, '[[88,96,146]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', 'end_turn');
INSERT INTO "exchange" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'ex_01m8ex09b4h0j63n48spbae6fw', 'key_01m8ex07m7c18d3x587ycr48x8', 'beta', 'chat-1', 'chat.completions.create', 1, 'beta-main', 1795796510052, 1795796510169, 'completed', 200, 1, 234000000, '[[2,23],["chat-1",{"input":2,"output":23},{"tier":"default"}]]', '', '{"parts":[{"model":"chat-1","lines":[["input",2,"2000000"],["output",23,"10000000"]]}]}', 'req_sandbox000000000001', 0, 103, '[[23,79,93]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', 'stop');
INSERT INTO "exchange" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'ex_01m8ex09fwdw9wssr7wtvesssy', 'key_01m8ex07m7c18d3x587ycr48x8', 'beta', 'chat-1', 'responses.create', 0, 'beta-main', 1795796510204, 1795796510237, 'completed', 200, 1, 234000000, '[[2,23],["chat-1",{"input":2,"output":23},{"tier":"default"}]]', '', '{"parts":[{"model":"chat-1","lines":[["input",2,"2000000"],["output",23,"10000000"]]}]}', 'req_sandbox000000000002', 0, 32, '[[19,10,12]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', NULL);
INSERT INTO "exchange" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'ex_01m8ex09hh6v8vd6bfhj9rs9bb', 'key_01m8ex07m7c18d3x587ycr48x8', 'beta', 'chat-1', 'embeddings.create', 0, 'beta-main', 1795796510257, 1795796510286, 'completed', 200, 1, 4000000, '[[2,0],["chat-1",{"input":2,"output":0}]]', '', '{"parts":[{"model":"chat-1","lines":[["input",2,"2000000"]]}]}', 'req_sandbox000000000003', 0, 28, '[[2,25,26]]', NULL, '', 'ipv4', 0, 0, 0, NULL, '', NULL);
INSERT INTO "free_exchange" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'ex_01m8ex09jme97mc2mzdfwh765x', 'key_01m8ex07m7c18d3x587ycr48x8', 'alpha', NULL, 'messages.create', NULL, 1795796510292, 1795796510296, 'not_admitted', 404, 'relay.model_unknown', NULL, '[]', '', 'ipv4', 1, NULL, '');
INSERT INTO "answer_state" VALUES ('beta', 'msg_ab1bfd2c2cc6018d1b8cd2b8sandbox0000000002000', 'item', 'acc_01m8ex07bfgxx7c20zzbg7f904', 'beta-main', 'chat-1', 'resp_ab1bfd2c2cc6018d1b8cd2b8sandbox0000000002001', 2, 23, 1798388510237);
INSERT INTO "answer_state" VALUES ('beta', 'resp_ab1bfd2c2cc6018d1b8cd2b8sandbox0000000002001', 'response', 'acc_01m8ex07bfgxx7c20zzbg7f904', 'beta-main', 'chat-1', 'resp_ab1bfd2c2cc6018d1b8cd2b8sandbox0000000002001', 2, 23, 1798388510237);
INSERT INTO "ledger_audit" VALUES (1, 'aud_01m8ex0ayh347kbe75qhmm8ebt', 'full', 'passed', 'key_01m8ex09w81tdqy6dcpqvt142d', 1795796511697, 976, 0, '{"accounts":2,"entries":8,"exchanges":4,"charges":4,"differences":0}', '[]', NULL);
INSERT INTO "usage_month" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', '2026-11', 'chat-1', 3, 6, 46, 0, 472000000);
INSERT INTO "usage_month" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', '2026-11', 'large-1', 1, 2, 23, 0, 341000000);
INSERT INTO "usage_month" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'total', 'chat-1', 3, 6, 46, 0, 472000000);
INSERT INTO "usage_month" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'total', 'large-1', 1, 2, 23, 0, 341000000);
INSERT INTO "usage_key_month" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'key_01m8ex07m7c18d3x587ycr48x8', '2026-11', 813000000);
INSERT INTO "usage_key_month" VALUES ('acc_01m8ex07bfgxx7c20zzbg7f904', 'key_01m8ex07m7c18d3x587ycr48x8', 'total', 813000000);
INSERT INTO "report_day" VALUES ('2026-11-27', 'acc_01m8ex07bfgxx7c20zzbg7f904', 'key_01m8ex07m7c18d3x587ycr48x8', 'chat-1', 'beta-main', '', 3, 3, 0, 0, 0, 6, 46, 0, 0, 6, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 472000000, 0, 0, 0, 472000000);
INSERT INTO "report_day" VALUES ('2026-11-27', 'acc_01m8ex07bfgxx7c20zzbg7f904', 'key_01m8ex07m7c18d3x587ycr48x8', 'large-1', 'alpha-main', '', 1, 1, 0, 0, 0, 2, 23, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 351000000, 0, 0, 10000000, 341000000);
INSERT INTO "vendor" VALUES ('alpha', 'messages', 'x-api-key', 'anthropic-version', '2023-06-01', 1, '', 'own', NULL);
INSERT INTO "vendor" VALUES ('beta', 'chat', 'bearer', NULL, NULL, 0, '', 'own', NULL);
INSERT INTO "model" VALUES ('large-1', 'alpha', NULL, 8192, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796508164, NULL);
INSERT INTO "model" VALUES ('small-1', 'alpha', NULL, 8192, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796508164, NULL);
INSERT INTO "model" VALUES ('chat-1', 'beta', NULL, 16384, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796508164, NULL);
INSERT INTO "model" VALUES ('chat-mini-1', 'beta', NULL, 16384, 200000, NULL, NULL, NULL, NULL, NULL, NULL, 1795796508164, NULL);
INSERT INTO "model" VALUES ('embed-1', 'beta', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795796508164, NULL);
INSERT INTO "price" VALUES ('chat-1', 0, '{"input":2,"output":10,"cache_read":0.2}');
INSERT INTO "price" VALUES ('chat-mini-1', 0, '{"input":0.1,"output":0.5,"cache_read":0.01}');
INSERT INTO "price" VALUES ('embed-1', 0, '{"input":0.02}');
INSERT INTO "price" VALUES ('large-1', 0, '{"input":3,"output":15,"cache_read":0.3,"cache_write_5m":3.75,"cache_write_1h":6}');
INSERT INTO "price" VALUES ('small-1', 0, '{"input":1,"output":5,"cache_read":0.1,"cache_write_5m":1.25,"cache_write_1h":2}');
INSERT INTO "channel" VALUES ('alpha-main', 'alpha', 'http://127.0.0.1:35885/alpha-main', 'sealed:v1.351e4cf1.fns7sP-_x2-BTWbtglDZkLfuKVYtBymBXs11HNuE7qW0y8i_PBQ2giKbuoqOgeN_r3AxWjdrCiNX', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"large-1":null,"small-1":null}', 0, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796508164, NULL);
INSERT INTO "channel" VALUES ('alpha-reserve', 'alpha', 'http://127.0.0.1:35885/alpha-reserve', 'sealed:v1.351e4cf1.iB04M2bHPQFH3qAbdzfj_9Spb6HOkXNP1VRhjXf7JofwUBTRCgGfBfxQZw_8OgLgginKRfXvTTuvEGnI', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"large-1":null,"small-1":null}', 1, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796508164, NULL);
INSERT INTO "channel" VALUES ('beta-main', 'beta', 'http://127.0.0.1:35885/beta-main', 'sealed:v1.351e4cf1.qdbmLQ3iasjD2zsZfXgzSEkyUjg-G2LXTJGUFRtxKf9Ed151037mv88oUcYb-iriHkQJHs1vF_s', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"chat-1":null,"chat-mini-1":null,"embed-1":null}', 0, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796508164, NULL);
INSERT INTO "channel" VALUES ('beta-reserve', 'beta', 'http://127.0.0.1:35885/beta-reserve', 'sealed:v1.351e4cf1.alTjpSH0RotO7XQhxUObCgKqVT4U3BhHAQfxlrTr15LCohBy7APuos8M6yah9PVCQC2KTAIdQDjQ6PM', NULL, '/v1', NULL, '{}', '{}', NULL, 'ask', '', '{"chat-1":null,"chat-mini-1":null,"embed-1":null}', 1, 1, NULL, 'none', 'enabled', NULL, NULL, NULL, '{}', NULL, 0, 1795796508164, NULL);
INSERT INTO "gateway_node" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'kept', 'local', '0.1.0', 'db2f2468', 0, '[]', 1795796509611, 1795796510592, NULL);
INSERT INTO "node_lease" VALUES ('alerts', 'node_01m8ex08wg8ptdzesjs7geeq9a', 1795796525592);
INSERT INTO "node_lease" VALUES ('channel_checks', 'node_01m8ex08wg8ptdzesjs7geeq9a', 1795796525592);
INSERT INTO "node_lease" VALUES ('seals', 'node_01m8ex08wg8ptdzesjs7geeq9a', 1795796525592);
INSERT INTO "channel_health" VALUES ('alpha-main', 'large-1', 'on', 'start', 1795796509610, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('alpha-main', 'small-1', 'on', 'start', 1795796509609, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('alpha-reserve', 'large-1', 'on', 'start', 1795796509609, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('alpha-reserve', 'small-1', 'on', 'start', 1795796509609, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('beta-main', 'chat-1', 'on', 'start', 1795796509609, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('beta-main', 'chat-mini-1', 'on', 'start', 1795796509609, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('beta-main', 'embed-1', 'on', 'start', 1795796509609, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('beta-reserve', 'chat-1', 'on', 'start', 1795796509609, 1795796509621, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('beta-reserve', 'chat-mini-1', 'on', 'start', 1795796509610, 1795796509622, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_health" VALUES ('beta-reserve', 'embed-1', 'on', 'start', 1795796509610, 1795796509622, '{"relapse":0,"restForMs":0,"baselines":[],"waits":{"reasoning":{"hours":[]},"plain":{"hours":[]}}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'alpha-main', 'large-1', 'on', 'start', 1795796509610, 1795796510592, '{"vendor":"alpha","rank":0,"isUsable":true,"share":1,"lastOkAtMs":1795796509882,"running":0,"firstEventMs":{"p50":128,"p95":128},"waits":[{"wait":"head","asksReasoning":false,"answers":1,"longestMs":97.46501999999964},{"wait":"output","asksReasoning":false,"answers":1,"longestMs":29.82467600000018}],"failures":[],"recentAttempts":{"ended":1,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'alpha-main', 'small-1', 'on', 'start', 1795796509609, 1795796509611, '{"vendor":"alpha","rank":0,"isUsable":true,"share":1,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'alpha-reserve', 'large-1', 'on', 'start', 1795796509609, 1795796509611, '{"vendor":"alpha","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'alpha-reserve', 'small-1', 'on', 'start', 1795796509609, 1795796509611, '{"vendor":"alpha","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'beta-main', 'chat-1', 'on', 'start', 1795796509609, 1795796510592, '{"vendor":"beta","rank":0,"isUsable":true,"share":1,"lastOkAtMs":1795796510286,"running":0,"firstEventMs":{"p50":80,"p95":80},"waits":[{"wait":"head","asksReasoning":false,"answers":1,"longestMs":57.112412999998924},{"wait":"output","asksReasoning":false,"answers":1,"longestMs":22.939728000001196}],"failures":[],"recentAttempts":{"ended":3,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'beta-main', 'chat-mini-1', 'on', 'start', 1795796509610, 1795796509611, '{"vendor":"beta","rank":0,"isUsable":true,"share":1,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'beta-main', 'embed-1', 'on', 'start', 1795796509610, 1795796509611, '{"vendor":"beta","rank":0,"isUsable":true,"share":1,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'beta-reserve', 'chat-1', 'on', 'start', 1795796509609, 1795796509611, '{"vendor":"beta","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'beta-reserve', 'chat-mini-1', 'on', 'start', 1795796509609, 1795796509611, '{"vendor":"beta","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "channel_state" VALUES ('node_01m8ex08wg8ptdzesjs7geeq9a', 'beta-reserve', 'embed-1', 'on', 'start', 1795796509609, 1795796509611, '{"vendor":"beta","rank":1,"isUsable":true,"share":0,"running":0,"waits":[],"failures":[],"recentAttempts":{"ended":0,"failed":0}}');
INSERT INTO "operator_action" VALUES (1, 1795796508019, 'test', 'account.create', 'acc_01m8ex07bfgxx7c20zzbg7f904', '{"id":"acc_01m8ex07bfgxx7c20zzbg7f904","name":"kept","status":"active","balance_usd":"0","has_paid":false,"limits":{"credit_line_usd":"0","holds":null,"daily_usd":"0","monthly_usd":"50","rpm":0,"window_minutes":1,"tpm":0,"price_multiplier":1},"note":"","contact":"","language":"en","alert_below_usd":"0","bill_to":"","external_id":null,"created_at":"2026-11-27T16:21:48.015Z","closed_at":null}');
INSERT INTO "operator_action" VALUES (2, 1795796508022, 'test', 'account.credit', 'acc_01m8ex07bfgxx7c20zzbg7f904', '{"amount_usd":"100","reference":"opening-balance"}');
INSERT INTO "operator_action" VALUES (3, 1795796508252, 'test', 'catalogue.apply', 'catalogue', '{"diff":[{"action":"add","kind":"vendor","name":"alpha","changes":[{"field":"format","to":"messages"},{"field":"credential","to":"x-api-key"},{"field":"version_header","to":"anthropic-version"},{"field":"default_version","to":"2023-06-01"},{"field":"require_max_tokens","to":"true"},{"field":"allow","to":""},{"field":"stored_responses","to":"own"}]},{"action":"add","kind":"vendor","name":"beta","changes":[{"field":"format","to":"chat"},{"field":"credential","to":"bearer"},{"field":"require_max_tokens","to":"false"},{"field":"allow","to":""},{"field":"stored_responses","to":"own"}]},{"action":"add","kind":"model","name":"large-1","changes":[{"field":"vendor","to":"alpha"},{"field":"max_output_tokens","to":"8192"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"3"},{"field":"price.output","to":"15"},{"field":"price.cache_read","to":"0.3"},{"field":"price.cache_write_5m","to":"3.75"},{"field":"price.cache_write_1h","to":"6"}]},{"action":"add","kind":"model","name":"small-1","changes":[{"field":"vendor","to":"alpha"},{"field":"max_output_tokens","to":"8192"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"1"},{"field":"price.output","to":"5"},{"field":"price.cache_read","to":"0.1"},{"field":"price.cache_write_5m","to":"1.25"},{"field":"price.cache_write_1h","to":"2"}]},{"action":"add","kind":"model","name":"chat-1","changes":[{"field":"vendor","to":"beta"},{"field":"max_output_tokens","to":"16384"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"2"},{"field":"price.output","to":"10"},{"field":"price.cache_read","to":"0.2"}]},{"action":"add","kind":"model","name":"chat-mini-1","changes":[{"field":"vendor","to":"beta"},{"field":"max_output_tokens","to":"16384"},{"field":"max_input_tokens","to":"200000"},{"field":"price.input","to":"0.1"},{"field":"price.output","to":"0.5"},{"field":"price.cache_read","to":"0.01"}]},{"action":"add","kind":"model","name":"embed-1","changes":[{"field":"vendor","to":"beta"},{"field":"price.input","to":"0.02"}]},{"action":"add","kind":"channel","name":"alpha-main","changes":[{"field":"vendor","to":"alpha"},{"field":"url","to":"http://127.0.0.1:35885/alpha-main"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"large-1, small-1"},{"field":"rank","to":"0"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]},{"action":"add","kind":"channel","name":"alpha-reserve","changes":[{"field":"vendor","to":"alpha"},{"field":"url","to":"http://127.0.0.1:35885/alpha-reserve"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"large-1, small-1"},{"field":"rank","to":"1"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]},{"action":"add","kind":"channel","name":"beta-main","changes":[{"field":"vendor","to":"beta"},{"field":"url","to":"http://127.0.0.1:35885/beta-main"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"chat-1, chat-mini-1, embed-1"},{"field":"rank","to":"0"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]},{"action":"add","kind":"channel","name":"beta-reserve","changes":[{"field":"vendor","to":"beta"},{"field":"url","to":"http://127.0.0.1:35885/beta-reserve"},{"field":"credential","to":"sealed"},{"field":"path","to":"/v1"},{"field":"stream_usage","to":"ask"},{"field":"drop_betas","to":""},{"field":"models","to":"chat-1, chat-mini-1, embed-1"},{"field":"rank","to":"1"},{"field":"weight","to":"1"},{"field":"check","to":"none"},{"field":"allow_private","to":"false"}]}]}');
INSERT INTO "operator_action" VALUES (4, 1795796508299, 'test', 'key.create', 'key_01m8ex07m7c18d3x587ycr48x8', '{"id":"key_01m8ex07m7c18d3x587ycr48x8","kind":"client","account_id":"acc_01m8ex07bfgxx7c20zzbg7f904","member_id":null,"role":null,"head":"cr_5hx6…","state":"active","name":"later","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:48.295Z","revoked_at":null}');
INSERT INTO "operator_action" VALUES (5, 1795796510365, 'test', 'account.create', 'acc_01m8ex09mwetepqbgfjjpza194', '{"id":"acc_01m8ex09mwetepqbgfjjpza194","name":"account-1","status":"active","balance_usd":"0","has_paid":false,"limits":{"credit_line_usd":"0","holds":null,"daily_usd":"1","monthly_usd":"0","rpm":60,"window_minutes":1,"tpm":0,"price_multiplier":1},"note":"","contact":"","language":"en","alert_below_usd":"0","bill_to":"","external_id":null,"created_at":"2026-11-27T16:21:50.364Z","closed_at":null}');
INSERT INTO "operator_action" VALUES (6, 1795796510366, 'test', 'account.credit', 'acc_01m8ex09mwetepqbgfjjpza194', '{"amount_usd":"5","reference":"opening-balance"}');
INSERT INTO "operator_action" VALUES (7, 1795796510412, 'test', 'key.create', 'key_01m8ex09nzq2sehnr34vxpt7cc', '{"id":"key_01m8ex09nzq2sehnr34vxpt7cc","kind":"client","account_id":"acc_01m8ex09mwetepqbgfjjpza194","member_id":null,"role":null,"head":"cr_nx6O…","state":"active","name":"test","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:50.399Z","revoked_at":null}');
INSERT INTO "operator_action" VALUES (8, 1795796510435, 'test', 'key.create', 'key_01m8ex09q2kzd6bwtsxy87qneq', '{"id":"key_01m8ex09q2kzd6bwtsxy87qneq","kind":"reader","account_id":"acc_01m8ex09mwetepqbgfjjpza194","member_id":null,"role":null,"head":"ro_A5ak…","state":"active","name":"test","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:50.434Z","revoked_at":null}');
INSERT INTO "operator_action" VALUES (9, 1795796510461, 'test', 'account.credit', 'acc_01m8ex09mwetepqbgfjjpza194', '{"amount_usd":"2","reference":"bank-1"}');
INSERT INTO "operator_action" VALUES (10, 1795796510519, 'test', 'account.refund', 'acc_01m8ex07bfgxx7c20zzbg7f904', '{"request_id":"ex_01m8ex08zav0w3xdyvfsz27w91","charge_usd":"0.000351","amount_usd":"0.00001","reason":null}');
INSERT INTO "operator_action" VALUES (11, 1795796510535, 'test', 'key.create', 'key_01m8ex09t48jxfe4w7t40x0g0z', '{"id":"key_01m8ex09t48jxfe4w7t40x0g0z","kind":"client","account_id":"acc_01m8ex09mwetepqbgfjjpza194","member_id":null,"role":null,"head":"cr_APj5…","state":"active","name":"old","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:50.532Z","revoked_at":null}');
INSERT INTO "operator_action" VALUES (12, 1795796510553, 'test', 'key.revoke', 'key_01m8ex09t48jxfe4w7t40x0g0z', '{"kind":"client","head":"cr_APj5…","account_id":"acc_01m8ex09mwetepqbgfjjpza194"}');
INSERT INTO "operator_action" VALUES (13, 1795796510602, 'test', 'key.create', 'key_01m8ex09w81tdqy6dcpqvt142d', '{"id":"key_01m8ex09w81tdqy6dcpqvt142d","kind":"admin","account_id":null,"member_id":null,"role":"owner","head":"ad_xmve…","state":"active","name":"kept","models":null,"ip":null,"daily_usd":"0","monthly_usd":"0","total_usd":"0","rpm":0,"tpm":0,"expires_at":null,"created_at":"2026-11-27T16:21:50.600Z","revoked_at":null}');
INSERT INTO "operator_action" VALUES (14, 1795796511169, 'key_01m8ex09w81tdqy6dcpqvt142d', 'note.add', 'acc_01m8ex07bfgxx7c20zzbg7f904', '{"note":"note_01m8ex0adxphe30hy05qpr6n98"}');
INSERT INTO "operator_action" VALUES (15, 1795796511286, 'key_01m8ex09w81tdqy6dcpqvt142d', 'code.create', 'batch_01m8ex0ah7th3bczbpfejtee9n', '{"amount_usd":"10","count":2,"expires_at":null}');
INSERT INTO "operator_action" VALUES (16, 1795796512696, 'test', 'account.credit', 'acc_01m8ex09mwetepqbgfjjpza194', '{"amount_usd":"3","reference":"bank-2"}');
INSERT INTO "note" VALUES ('note_01m8ex0adxphe30hy05qpr6n98', 'account', 'acc_01m8ex07bfgxx7c20zzbg7f904', 'Pays in advance.', 'key_01m8ex09w81tdqy6dcpqvt142d', 1795796511165);
INSERT INTO "revision" VALUES ('access', 6);
INSERT INTO "revision" VALUES ('accounts', 7);
INSERT INTO "revision" VALUES ('balances', 5);
INSERT INTO "revision" VALUES ('catalogue', 16);
INSERT INTO "sqlite_sequence" VALUES ('operator_action', 16);
INSERT INTO "sqlite_sequence" VALUES ('entry', 9);
INSERT INTO "sqlite_sequence" VALUES ('ledger_audit', 1);
CREATE UNIQUE INDEX account_by_external_id ON account (external_id);
CREATE INDEX key_by_account ON key (account_id, id);
CREATE INDEX key_by_head ON key (head, id);
CREATE INDEX session_by_token ON session (token_id, created_at_ms);
CREATE UNIQUE INDEX member_of_account ON member (account_id, email) WHERE removed_at_ms IS NULL;
CREATE INDEX member_by_email ON member (email);
CREATE INDEX member_by_account ON member (account_id, id);
CREATE INDEX member_session_by_member ON member_session (member_id, created_at_ms);
CREATE INDEX sign_in_link_by_email ON sign_in_link (email);
CREATE INDEX sign_in_link_by_domain ON sign_in_link (domain);
CREATE INDEX entry_by_operator_of_account ON entry (account_id, sequence) WHERE kind <> 'charge';
CREATE INDEX code_by_batch ON code (batch_id, id);
CREATE INDEX payment_with_problem ON payment (changed_at_ms) WHERE problem IS NOT NULL;
CREATE INDEX exchange_log ON exchange
  (exchange_id, account_id, key_id, model, channel, status, code, ending);
CREATE INDEX free_exchange_log ON free_exchange
  (exchange_id, account_id, key_id, model, channel, status, code);
CREATE INDEX exchange_by_vendor_request ON exchange (vendor_request_id)
  WHERE vendor_request_id IS NOT NULL;
CREATE INDEX free_exchange_by_vendor_request ON free_exchange (vendor_request_id)
  WHERE vendor_request_id IS NOT NULL;
CREATE INDEX exchange_waived ON exchange (account_id, exchange_id) WHERE waived_picos > 0;
CREATE INDEX answer_state_response ON answer_state (response_id) WHERE response_id IS NOT NULL;
CREATE INDEX answer_state_expiry ON answer_state (expires_at_ms);
CREATE INDEX ledger_audit_by_scope ON ledger_audit (scope, sequence);
CREATE INDEX report_day_by_account ON report_day (account_id, day, key_id);
CREATE INDEX channel_change_by_channel ON channel_change (channel, at_ms, sequence);
CREATE INDEX channel_change_by_time ON channel_change (at_ms, sequence);
CREATE INDEX operator_cost_by_channel ON operator_cost (channel, at_ms);
CREATE INDEX operator_action_by_action ON operator_action (action, sequence);
CREATE INDEX operator_action_by_subject ON operator_action (subject, sequence);
CREATE INDEX note_by_subject ON note (kind, subject, id);
CREATE INDEX idempotency_key_by_time ON idempotency_key (created_at_ms);
CREATE INDEX alert_delivery_waiting ON alert_delivery (target_id, due_at_ms) WHERE state = 'waiting';
CREATE INDEX alert_delivery_by_time ON alert_delivery (created_at_ms);
CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER sealed_entry_is_never_changed BEFORE UPDATE ON sealed_entry
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER sealed_entry_is_never_deleted BEFORE DELETE ON sealed_entry
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER sealed_head_is_never_changed BEFORE UPDATE ON sealed_head
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER sealed_head_is_never_deleted BEFORE DELETE ON sealed_head
BEGIN SELECT RAISE(ABORT, 'sealed entries and heads are append-only'); END;
CREATE TRIGGER channel_change_is_never_changed BEFORE UPDATE ON channel_change
BEGIN SELECT RAISE(ABORT, 'the history of channels is append-only'); END;
CREATE TRIGGER channel_change_is_never_deleted BEFORE DELETE ON channel_change
BEGIN SELECT RAISE(ABORT, 'the history of channels is append-only'); END;
CREATE TRIGGER operator_cost_is_never_changed BEFORE UPDATE ON operator_cost
BEGIN SELECT RAISE(ABORT, 'costs are append-only'); END;
CREATE TRIGGER operator_cost_is_never_deleted BEFORE DELETE ON operator_cost
BEGIN SELECT RAISE(ABORT, 'costs are append-only'); END;
CREATE TRIGGER operator_action_is_never_changed BEFORE UPDATE ON operator_action
BEGIN SELECT RAISE(ABORT, 'the log of operators'' actions is append-only'); END;
CREATE TRIGGER operator_action_is_never_deleted BEFORE DELETE ON operator_action
BEGIN SELECT RAISE(ABORT, 'the log of operators'' actions is append-only'); END;
CREATE TRIGGER exchange_is_never_changed BEFORE UPDATE ON exchange
BEGIN SELECT RAISE(ABORT, 'exchanges are recorded once'); END;
CREATE TRIGGER key_inserted AFTER INSERT ON key
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'access'; END;
CREATE TRIGGER key_updated AFTER UPDATE ON key
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'access'; END;
CREATE TRIGGER account_inserted AFTER INSERT ON account
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'accounts'; END;
CREATE TRIGGER account_updated
AFTER UPDATE OF name, status, daily_limit_picos, monthly_limit_picos, credit_line_picos, holds, has_paid, rpm,
  window_minutes, price_multiplier_ppm, tokens_per_minute
ON account
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'accounts'; END;
CREATE TRIGGER entry_by_operator AFTER INSERT ON entry WHEN NEW.kind <> 'charge'
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'balances'; END;
CREATE TRIGGER vendor_inserted AFTER INSERT ON vendor
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER vendor_updated AFTER UPDATE ON vendor
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER model_inserted AFTER INSERT ON model
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER model_updated AFTER UPDATE ON model
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER price_inserted AFTER INSERT ON price
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER price_updated AFTER UPDATE ON price
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER channel_inserted AFTER INSERT ON channel
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
CREATE TRIGGER channel_updated AFTER UPDATE ON channel
BEGIN UPDATE revision SET number = number + 1 WHERE area = 'catalogue'; END;
COMMIT;
