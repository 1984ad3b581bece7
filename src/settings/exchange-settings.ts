/**
 * The settings of an exchange: what clients may do, how long vendors may take, and what an ending costs. Part
 * of the list in list.ts.
 */
import { minuteMs } from '../base/clock.ts'
import { holdRules } from '../base/hold-rule.ts'
import {
  choice,
  count,
  duration,
  durationOrOff,
  folderPaths,
  mebibyte,
  setting,
  variableNames,
} from './schemas.ts'

const upToTenMinutes = duration({ min: 10, max: 10 * minuteMs })
const upToHour = duration({ min: 10, max: 60 * minuteMs })
/** 0 = no limit. */
const countOrNone = count({ min: 0, max: 1_000_000 })

/** By subject, in the order of the page. */
export const exchangeSettings = {
  "The client's side": {
    bodyBytesMax: setting(
      'body_max_bytes',
      count({ min: 1_024, max: 1_024 * mebibyte }),
      32 * mebibyte,
      'The largest request body, in bytes. A larger one is refused with 413.',
    ),
    bodiesBytesMax: setting(
      'bodies_max_bytes',
      count({ min: mebibyte, max: 1_024 * 1_024 * mebibyte }),
      undefined,
      'The most bytes of all request bodies under way, by default a quarter of the memory. An account may use half, a key a quarter of them. Over it: 503, or 429.',
      'a quarter',
    ),
    headTimeoutMs: setting(
      'head_timeout',
      upToTenMinutes,
      10_000,
      'The longest time for a client to send the head of a request.',
    ),
    bodyTimeoutMs: setting(
      'body_timeout',
      upToHour,
      minuteMs,
      'The longest time for a client to send the whole request.',
    ),
    keepAliveTimeoutMs: setting(
      'keep_alive_timeout',
      upToHour,
      75_000,
      'How long an idle connection stays open. Set it above the idle time of a proxy in front of the gateway.',
    ),
    writeStallTimeoutMs: setting(
      'write_stall_timeout',
      upToHour,
      150_000,
      'How long nothing of an answer may leave the gateway before it closes the connection of its client. The delivered part is charged, also where the vendor gives up on such a client before.',
    ),
    connectionsMax: setting(
      'max_connections',
      count({ min: 1, max: 1_000_000 }),
      10_000,
      'The most open client connections. Fewer where the limit of open files of the process does not allow them.',
    ),
    connectionsPerAddressMax: setting(
      'max_connections_per_address',
      countOrNone,
      256,
      'The most open connections of one address that have shown no valid key; `0` = no limit. An IPv6 network /64 counts as one address. Connections that have shown a valid key, and those of `trusted_proxies`, do not count.',
    ),
    failedSignInsMax: setting(
      'max_failed_sign_ins',
      countOrNone,
      300,
      'The most requests without a valid credential that one address may send per minute; `0` = no limit. Over it: 429. An IPv6 network /64 counts as one address. Known keys are not affected.',
    ),
    runningPerKeyMax: setting(
      'max_running_per_key',
      countOrNone,
      2_000,
      'Concurrency limit of one key; `0` = none. Over it: 429.',
    ),
    runningPerAccountMax: setting(
      'max_running_per_account',
      countOrNone,
      4_000,
      'Concurrency limit of all keys of an account together; `0` = none.',
    ),
  },
  "The vendor's side": {
    apiCredentialVariables: setting(
      'api_credential_variables',
      variableNames,
      [],
      'Environment variables that a catalogue over the admin API may name as credentials (`env:NAME`), with commas between them.',
    ),
    apiCredentialFileFolders: setting(
      'api_credential_file_folders',
      folderPaths,
      [],
      'Folders whose files it may name (`file:/path`): absolute paths with commas between them.',
    ),
    checkIntervalMs: setting(
      'check_interval',
      duration({ min: 100, max: 1_440 * minuteMs }),
      10 * minuteMs,
      "How often each channel gets a health check, from one of the gateways on the store. A check is a tiny paid request unless the channel's `check` says otherwise.",
    ),
    connectTimeoutMs: setting(
      'connect_timeout',
      upToTenMinutes,
      5_000,
      'The longest time to connect to a channel, with TLS.',
    ),
    firstEventTimeoutMs: setting(
      'first_event_timeout',
      upToHour,
      10 * minuteMs,
      'Streams: the longest silence of a vendor before its head, and from there to the first output. The catalogue can set another limit for a model or a channel. While another channel is usable, [shorter limits](reliability.md#silence) hold.',
    ),
    answerTimeoutMs: setting(
      'answer_timeout',
      upToHour,
      10 * minuteMs,
      'Answers that are not streamed: the longest time to the whole answer.',
    ),
    idleTimeoutMs: setting(
      'idle_timeout',
      upToHour,
      2 * minuteMs,
      'The longest silence in the middle of an answer; at least `10m` of a model that `thinks`.',
    ),
    pingTimeoutMs: setting(
      'ping_timeout',
      upToHour,
      10 * minuteMs,
      'How long pings alone keep a begun stream alive. The catalogue can set another limit for a model.',
    ),
    streamKeepaliveMs: setting(
      'stream_keepalive',
      durationOrOff({ min: 1_000, max: 10 * minuteMs }),
      undefined,
      "For clients behind a proxy that cuts silent connections: after so much silence, such as `15s`, a stream's client gets a ping (messages) or a comment (chat). Before the first event the gateway then answers 200 itself: the vendor's headers are lost, and a later refusal comes as the format's error event. Or `off`.",
      '`off`',
    ),
    requestDeadlineMs: setting(
      'request_deadline',
      duration({ min: 100, max: 1_440 * minuteMs }),
      60 * minuteMs,
      'The longest time for one request, with all attempts and the whole stream.',
    ),
    attemptsMax: setting(
      'max_attempts',
      count({ min: 1, max: 20 }),
      3,
      'The most attempts for one request before the client gets an error.',
    ),
    failoverTokensMax: setting(
      'failover_tokens',
      count({ min: 2, max: 1_000_000 }),
      100,
      'The token bucket of a channel that takes over traffic: a failure there takes one token, a success gives a tenth back, and failover to it needs more than half. See [reliability](reliability.md).',
    ),
    answerBytesMax: setting(
      'answer_max_bytes',
      count({ min: 1_024, max: 1_024 * mebibyte }),
      64 * mebibyte,
      'The largest answer that is not streamed, errors included, in bytes. Of streams only those that the vendor compresses have this limit, decoded. 2,048 embeddings of 3,072 numbers have 34 MB as base64, which most SDKs ask for, and 60 to 150 MB as text.',
    ),
  },
  Endings: {
    clientLeftGraceMs: setting(
      'client_left_grace',
      duration({ min: 0, max: 5 * minuteMs }),
      5_000,
      "When a client leaves in the middle of an answer: how long the gateway reads on for the vendor's final count, for 2 MiB at most; where the request asks for reasoning, or the model `thinks`, until the count has come. `0s` = not at all.",
    ),
    holds: setting(
      'holds',
      choice(holdRules),
      'likely',
      'The amount that must be left of a balance and of each limit for a request: its `likely` cost, or the `most` that its vendor can count for it. The hold is always the most. An account can have its own rule; one that has not paid yet always needs the most.',
    ),
    upstreamCut: setting(
      'upstream_cut',
      choice(['nothing', 'delivered']),
      'nothing',
      'When the vendor breaks off in the middle of an answer: charge `nothing`, or the part that was `delivered`.',
    ),
    drainTimeoutMs: setting(
      'drain_timeout',
      duration({ min: 0, max: 1_440 * minuteMs }),
      10 * minuteMs,
      'How long running answers may continue after SIGTERM. Then the gateway ends them with an error and charges the delivered part. Give your supervisor a longer limit.',
    ),
  },
} as const
