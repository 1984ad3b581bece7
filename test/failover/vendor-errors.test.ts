/**
 * Every error answer the vendors are known to give, to messages, chat and responses, to streams and to plain
 * requests: who is tried next, who is blamed, what the client sees when another channel is left and
 * when none is. The expectations are written here row by row from what the vendors document.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { errorPresets, type ErrorPreset } from '../../sandbox/error-presets.ts'
import { assertBrokenOff, assertOwnError, assertWhole, namesOperator } from '../support/answers.ts'
import { firstShown, formats, places, type StreamedFormat } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'

/**
 * - `client`: the request's own fault: passes as it came, after one attempt
 * - `conflict`: once more on the same channel, then it passes
 * - `throttle`: the channel rests; others are tried; the last of them passes
 * - `account`: the operator's credential or address: the channel is off at once, ours to say
 * - `credit`: the operator's credit or spend limit is used up: the same
 * - `missing`: this channel does not have this model
 * - `internal`: a 500; once more where no other channel is left
 * - `hard`: the channel failed
 */
type Class =
  | 'client'
  | 'conflict'
  | 'throttle'
  | 'account'
  | 'credit'
  | 'missing'
  | 'internal'
  | 'hard'

const classes: Readonly<Record<Class, readonly string[]>> = {
  client: [
    'messages.400',
    'messages.400_context',
    'messages.400_available_tools_limit_exceeded',
    'messages.400_claude_code_version_too_old',
    'messages.400_compaction_block_ambiguous',
    'messages.400_compaction_block_misplaced',
    'messages.400_compaction_content_mismatch',
    'messages.400_compaction_incomplete_turn',
    'messages.400_compaction_nothing_to_summarize',
    'messages.400_compaction_signature_invalid',
    'messages.400_compaction_too_many_tool_references',
    'messages.400_compaction_tool_changes_mismatch',
    'messages.400_request_body_encoding_invalid',
    'messages.400_request_body_encoding_unsupported',
    'messages.400_thread_state_invalid',
    'messages.400_tool_name_conflict',
    'messages.400_tool_reference_unresolved',
    'messages.400_user_profile_required',
    'messages.404_thread_not_found',
    'messages.413',
    'messages.413_json',
    'messages.413_request_body_too_large_after_decoding',
    'messages.422',
    'chat.400',
    'chat.400_context_length_exceeded',
    'chat.400_service_tier',
    'chat.413',
    'chat.422',
  ],
  conflict: ['messages.408', 'messages.409', 'chat.408', 'chat.409'],
  throttle: [
    'messages.429',
    'messages.429_ramp_limit_exceeded',
    'messages.503_overloaded',
    'messages.529',
    'messages.529_compaction_unavailable',
    'chat.429',
    'chat.429_slow_down',
    'chat.429_too_large',
    'chat.503',
  ],
  account: [
    'messages.404_page',
    'messages.404_path',
    'messages.405',
    'chat.404_page',
    'chat.404_path',
    'chat.405',
    'messages.400_claude_code_key_creator_not_member',
    'messages.400_cmek_key_disabled',
    'messages.400_cmek_key_network_blocked',
    'messages.400_organization_on_hold',
    'messages.401',
    'messages.403',
    'messages.403_user_profile_billing_not_authorized',
    'messages.403_user_profile_not_billable',
    'chat.401',
    'chat.401_address',
    'chat.401_organization',
    'chat.403_region',
  ],
  credit: [
    'messages.400_credit',
    'messages.400_usage_limits',
    'messages.400_workspace_limits',
    'messages.402',
    'messages.402_linked_organization_payment_required',
    'messages.429_contract_spend_limit_reached',
    'messages.429_enforced_spend_limit_reached',
    'chat.429_billing_hard_limit_reached',
    'chat.429_credit_balance_exhausted',
    'chat.429_insufficient_quota',
    'chat.429_organization_spend_limit_exceeded',
    'chat.429_organization_usage_limit_exceeded',
    'chat.429_project_spend_limit_exceeded',
  ],
  missing: ['messages.404', 'chat.403', 'chat.404'],
  internal: ['messages.500', 'chat.500'],
  hard: [
    'messages.501',
    'chat.501',
    'messages.502',
    'messages.503',
    'messages.503_cmek_context_unavailable',
    'messages.503_cmek_key_unreachable',
    'messages.504',
    'messages.520',
    'messages.521',
    'messages.522',
    'messages.523',
    'messages.524',
    'messages.530',
    'chat.502',
    'chat.504',
    'chat.520',
    'chat.521',
    'chat.522',
    'chat.523',
    'chat.524',
    'chat.530',
  ],
}

type Format = Exclude<StreamedFormat, 'completions'>
const tested: readonly Format[] = [...formats, 'responses']

/** To responses these say that the server lacks the endpoint; test/e2e/responses.test.ts covers that. */
const withoutEndpoint: ReadonlySet<string> = new Set([
  'chat.404_page',
  'chat.404_path',
  'chat.405',
  'chat.501',
])

const rows = Object.entries(classes).flatMap(([kind, names]) =>
  names.flatMap((name) =>
    formatsOf(name).map((format): Row => ({
      kind: kind as Class,
      name,
      format,
    })),
  ),
)

/** The vendor answers both of its operations with the same errors. */
function formatsOf(name: string): readonly Format[] {
  if (name.startsWith('messages.')) return ['messages']
  return withoutEndpoint.has(name) ? ['chat'] : ['chat', 'responses']
}

test('every error the simulated vendors know has its row here', () => {
  assert.deepEqual(Object.values(classes).flat().sort(), [...errorPresets.keys()].sort())
})

interface Expected {
  /** Which of [main, reserve] are asked, in order. */
  readonly tried: readonly ('main' | 'reserve')[]
  /** The words under which they are counted. */
  readonly lessons: readonly ('main' | 'reserve')[]
  readonly word: string
  /** How main is afterwards for the model that was asked for, and for the vendor's other model. */
  readonly grade: string
  readonly otherGrade: string
}

/** Only the first request meets the error; another channel is there. */
const onceExpected: Readonly<Record<Class, Expected>> = {
  client: {
    tried: ['main'],
    lessons: ['main'],
    word: 'client',
    grade: 'on',
    otherGrade: 'on',
  },
  conflict: {
    tried: ['main', 'main'],
    lessons: ['main'],
    word: 'client',
    grade: 'on',
    otherGrade: 'on',
  },
  throttle: {
    tried: ['main', 'reserve'],
    lessons: ['main'],
    word: 'throttle',
    grade: 'resting',
    otherGrade: 'on',
  },
  account: {
    tried: ['main', 'reserve'],
    lessons: ['main'],
    word: 'config',
    grade: 'off',
    otherGrade: 'off',
  },
  credit: {
    tried: ['main', 'reserve'],
    lessons: ['main'],
    word: 'no_credit',
    grade: 'off',
    otherGrade: 'off',
  },
  missing: {
    tried: ['main', 'reserve'],
    lessons: ['main'],
    word: 'model_missing',
    grade: 'off',
    otherGrade: 'on',
  },
  internal: {
    tried: ['main', 'reserve'],
    lessons: ['main'],
    word: 'hard',
    grade: 'on',
    otherGrade: 'on',
  },
  hard: {
    tried: ['main', 'reserve'],
    lessons: ['main'],
    word: 'hard',
    grade: 'on',
    otherGrade: 'on',
  },
}

/** Every channel answers every request with the error. */
const alwaysTried: Readonly<Record<Class, readonly ('main' | 'reserve')[]>> = {
  client: ['main'],
  conflict: ['main', 'main'],
  throttle: ['main', 'reserve'],
  account: ['main', 'reserve'],
  credit: ['main', 'reserve'],
  missing: ['main', 'reserve'],
  internal: ['main', 'reserve', 'reserve'],
  hard: ['main', 'reserve'],
}

const otherModel: Readonly<Record<Format, string>> = {
  messages: 'small-1',
  chat: 'chat-mini-1',
  responses: 'chat-mini-1',
}

let gateway: Scenario
let markerCount = 0
before(async () => {
  gateway = await scenario(failoverDefaults)
})
after(() => gateway.close())

function named(format: Format, roles: readonly ('main' | 'reserve')[]): string[] {
  return roles.map((role) => places[format][role])
}

function presetOf(name: string): ErrorPreset {
  const preset = errorPresets.get(name)
  assert.ok(preset !== undefined, name)
  return preset
}

for (const kind of Object.keys(classes) as Class[])
  for (const isStream of [false, true]) {
    const asked = isStream ? 'a stream' : 'a plain request'
    describe(`${kind} errors to ${asked}`, () => {
      for (const row of rows.filter((one) => one.kind === kind)) {
        test(`${row.name} to ${row.format} from the main channel`, () => meetsOnce(row, isStream))
        test(`${row.name} to ${row.format} from every channel`, () => meetsAlways(row, isStream))
      }
    })
  }

interface Row {
  readonly kind: Class
  readonly name: string
  readonly format: Format
}

async function meetsOnce({ kind, name, format }: Row, isStream: boolean): Promise<void> {
  const expected = onceExpected[kind]
  const { main, model } = places[format]
  const marker = `once-${markerCount++}`
  gateway.resetHealth()
  gateway.sandbox.faults.clear()
  gateway.sandbox.faults.set(main, [`error=${name}`])
  await gateway.attempts()
  const answer = await gateway.ask({ format, isStream, marker })

  assert.deepEqual(gateway.tried(marker), named(format, expected.tried))
  const server = named(format, expected.tried).at(-1) ?? ''
  const records = gateway.sandbox.log.forMarker(marker)
  const last = records.at(-1)
  assert.ok(last !== undefined)
  if (kind === 'client') {
    await gateway.served(marker, main)
    assertPassed(answer, presetOf(name), last.responseBody)
    assert.deepEqual(await gateway.attempts(), { [`${main} client`]: 1 })
  } else {
    await gateway.sandbox.log.waitFor((one) => one === last && one.phase === 'closed')
    assertWhole(answer, last, name)
    assert.ok(!namesOperator(answer.body.toString() + answer.rawHeaders.join('\n')))
    assert.deepEqual(await gateway.attempts(), counts([`${main} ${expected.word}`, `${server} ok`]))
  }
  assert.equal(gateway.grade(main, model), expected.grade)
  assert.equal(gateway.grade(main, otherModel[format]), expected.otherGrade)
  const booked = await gateway.recorded(answer)
  assert.equal(booked.attemptCount, expected.tried.length)
  assert.equal(booked.chargeCount, kind === 'client' ? 0 : 1)
  assert.equal(booked.channel, server)
}

async function meetsAlways({ kind, name, format }: Row, isStream: boolean): Promise<void> {
  const preset = presetOf(name)
  const marker = `always-${markerCount++}`
  gateway.resetHealth()
  gateway.sandbox.faults.clear()
  gateway.sandbox.faults.set('*', `error=${name}`)
  const answer = await gateway.ask({ format, isStream, marker })

  const channels = named(format, alwaysTried[kind])
  assert.deepEqual(gateway.tried(marker), channels)
  const last = gateway.sandbox.log.forMarker(marker).at(-1)
  assert.ok(last !== undefined)
  if (kind === 'account' || kind === 'credit') assertOwnError(answer, format, 502, name)
  else if (kind === 'missing')
    assertOwnError(answer, format, preset.status === 403 ? 502 : 404, name)
  else if (namesOperator(preset.message)) assertOwnError(answer, format, preset.status, name)
  else {
    await gateway.sandbox.log.waitFor((one) => one === last && one.phase === 'closed')
    assertPassed(answer, preset, last.responseBody)
  }
  const booked = await gateway.recorded(answer)
  assert.equal(booked.attemptCount, channels.length)
  assert.deepEqual([booked.chargeCount, booked.amountPicos], [0, 0n])
  assert.equal(booked.ending, kind === 'client' || kind === 'conflict' ? 'refused' : 'failed')
}

for (const format of tested)
  describe(`a lone 500 from the ${format} reserve`, () => {
    const { main, reserve, model } = places[format]

    async function askWhileMainIsDead(fault: string | readonly string[]): Promise<{
      readonly tried: readonly string[]
      readonly status: number
    }> {
      gateway.resetHealth()
      gateway.sandbox.faults.clear()
      gateway.sandbox.faults.set(main, 'error=401')
      await gateway.ask({ format, isStream: false })
      assert.equal(gateway.grade(main, model), 'off')
      gateway.sandbox.faults.set(reserve, fault)
      const marker = `lone-${markerCount++}`
      const { status } = await gateway.ask({ format, isStream: false, marker })
      return { tried: gateway.tried(marker), status }
    }

    test('is repeated there while the main route is dead', async () => {
      const { tried, status } = await askWhileMainIsDead(['error=500'])
      assert.deepEqual([tried, status], [[reserve, reserve], 200])
    })

    test('is repeated once, never twice', async () => {
      const { tried, status } = await askWhileMainIsDead('error=500')
      assert.deepEqual([tried, status], [[reserve, reserve], 500])
    })
  })

/** The vendor's own error, to the byte, with the headers a client acts on. */
function assertPassed(
  answer: Awaited<ReturnType<Scenario['ask']>>,
  preset: ErrorPreset,
  body: Buffer | undefined,
): void {
  assert.equal(answer.status, preset.status)
  assert.ok(answer.isComplete)
  assert.ok(body !== undefined)
  assert.equal(answer.body.toString(), body.toString())
  assert.equal(answer.headers['retry-after'], preset.retryAfter)
  assert.equal(answer.headers['x-should-retry'], preset.shouldRetry)
  assert.match(String(answer.headers['content-type']), preset.page === undefined ? /json/ : /html/)
  assert.match(String(answer.headers['x-turnpike-request-id']), /^ex_/)
  assert.ok(!namesOperator(answer.rawHeaders.join('\n')))
}

function counts(names: readonly string[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const name of names.toSorted()) total[name] = (total[name] ?? 0) + 1
  return total
}

/** Rows that say less as an event, where there is no status to go by. */
const eventClasses: Readonly<Record<string, Class>> = {
  'messages.408': 'hard',
  'messages.500': 'hard',
  'chat.408': 'client',
  'chat.409': 'client',
  'chat.500': 'hard',
}

/** The status that goes with the type in its envelope, where that is not 400. */
const eventStatuses: Readonly<Record<string, number>> = {
  not_found_error: 404,
  request_too_large: 413,
}

for (const format of tested)
  describe(`the same errors as an event of a ${format} stream`, () => {
    const events = rows.filter(
      (row) => row.format === format && presetOf(row.name).page === undefined,
    )
    for (const { name, kind } of events) {
      const eventKind = eventClasses[name] ?? kind
      test(`${name} first`, () => beginsStream({ kind: eventKind, name, format }))
      test(`${name} in the middle`, () => breaksStream({ kind: eventKind, name, format }))
    }
  })

async function beginsStream({ kind, name, format }: Row): Promise<void> {
  const { word } = onceExpected[kind]
  const { main, reserve } = places[format]
  const marker = `first-${markerCount++}`
  gateway.resetHealth()
  gateway.sandbox.faults.clear()
  gateway.sandbox.faults.set(main, [`error_first=${name}; pings=1`])
  await gateway.attempts()
  const answer = await gateway.ask({ format, isStream: true, marker })
  const expected = onceExpected[kind]
  assert.deepEqual(gateway.tried(marker), named(format, expected.tried))
  assert.ok(!namesOperator(answer.body.toString() + answer.rawHeaders.join('\n')))
  if (kind === 'client') {
    assert.equal(answer.status, eventStatuses[presetOf(name).type] ?? 400)
    assert.deepEqual(await gateway.attempts(), { [`${main} client`]: 1 })
    return
  }
  const last = gateway.sandbox.log.forMarker(marker).at(-1)
  assert.ok(last !== undefined)
  await gateway.sandbox.log.waitFor((one) => one === last && one.phase === 'closed')
  assertWhole(answer, last, name)
  const server = kind === 'conflict' ? main : reserve
  assert.deepEqual(await gateway.attempts(), counts([`${main} ${word}`, `${server} ok`]))
}

async function breaksStream({ kind, name, format }: Row): Promise<void> {
  const { main } = places[format]
  const marker = `middle-${markerCount++}`
  gateway.resetHealth()
  gateway.sandbox.faults.clear()
  // Behind the first text: the client has seen some of the answer.
  gateway.sandbox.faults.set(main, [`error_at=${firstShown(format) + 4}; event_error=${name}`])
  await gateway.attempts()
  const answer = await gateway.ask({ format, isStream: true, marker })
  assert.deepEqual(gateway.tried(marker), [main])
  const record = await gateway.served(marker, main)
  const text = answer.body.toString()
  if (kind === 'account' || kind === 'credit' || namesOperator(presetOf(name).message)) {
    // The operator's account concerns no client: the gateway reports the break in its own words.
    assertBrokenOff(answer, record, format, name)
    assert.match(text, /broke off/)
  } else {
    assert.equal(text, record.responseBody?.toString(), 'the vendor’s own error passes as it came')
    assert.equal(answer.isComplete, false)
  }
  assert.deepEqual(await gateway.attempts(), { [`${main} ${middleWords[kind]}`]: 1 })
  const expected = onceExpected[kind]
  assert.equal(gateway.grade(main, places[format].model), expected.grade)
  assert.equal(gateway.grade(main, otherModel[format]), expected.otherGrade)
  const { ending, attemptCount, chargeCount } = await gateway.recorded(answer)
  assert.deepEqual([ending, attemptCount, chargeCount], ['upstream_cut', 1, 0])
}

/** An error in the middle of an answer is blamed as at its beginning; what is left is a break. */
const middleWords: Readonly<Record<Class, string>> = {
  client: 'client',
  conflict: 'client',
  throttle: 'throttle',
  account: 'config',
  credit: 'no_credit',
  missing: 'model_missing',
  internal: 'broken',
  hard: 'broken',
}

describe('an error page in place of a refused credential', () => {
  for (const format of tested)
    test(`a 403 page of a proxy in front of the vendor never passes (${format})`, async () => {
      const page = 'status=403; content_type=text/html; body=%3Chtml%3Eno%3C/html%3E'
      const marker = `page-${markerCount++}`
      gateway.resetHealth()
      gateway.sandbox.faults.clear()
      gateway.sandbox.faults.set('*', page)
      const answer = await gateway.ask({ format, isStream: false, marker })
      assert.deepEqual(gateway.tried(marker), named(format, ['main', 'reserve']))
      assertOwnError(answer, format, 502, page)
    })
})
