/**
 * The exports of both vendors, in the columns and fields that they really have, and the gateway's own
 * columns. Numbers are invented. docs/ledger.md names the source of each format.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUsd } from '../../base/money.ts'
import { readVendorCounts, type VendorExport } from './vendor-counts.ts'

const period = { fromMs: Date.parse('2026-11-01'), toMs: Date.parse('2026-11-03') }

function read(...texts: readonly string[]): VendorExport {
  const found = readVendorCounts(texts, period)
  if (typeof found === 'string') return assert.fail(found)
  return found
}

/** The counts as plain data. */
function counted(...texts: readonly string[]) {
  return read(...texts).counts.map(({ model, byName, costPicos }) => ({
    model,
    ...Object.fromEntries(byName),
    ...(costPicos !== undefined && { costPicos }),
  }))
}

test('rows of a model are added up, in CSV and in JSON alike', () => {
  const csv = 'model,requests,input\r\n"a,b",1,10\r\n"a,b",2,\r\n'
  const json = JSON.stringify([
    { model: 'a,b', requests: 1, input: 10 },
    { model: 'a,b', requests: '2', input: null },
  ])
  for (const text of [csv, json])
    assert.deepEqual(counted(text), [{ model: 'a,b', requests: 3, input: 10 }])
})

const usageCsv = `usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count,inference_geo,speed
2026-10-31,claude-haiku-4-5-20251001,key one,Default,standard,≤ 200k,999,0,0,0,999,0,global,
2026-11-01,claude-haiku-4-5-20251001,key one,"Team, A",standard,≤ 200k,1000,20,0,300,40,1,global,
2026-11-02,claude-haiku-4-5-20251001,key two,Default,standard,≤ 200k,500,0,7,0,10,0,global,
`

test('the CSV of the console’s usage page is summed over the days of the period', () => {
  assert.deepEqual(counted(usageCsv), [
    {
      model: 'claude-haiku-4-5-20251001',
      input: 1_500,
      cache_write_5m: 20,
      cache_write_1h: 7,
      cache_read: 300,
      output: 50,
      web_search: 1,
    },
  ])
  const { notCompared, rowsOutside, hasMore } = read(usageCsv)
  assert.deepEqual(
    { notCompared, rowsOutside, hasMore },
    { notCompared: [], rowsOutside: 1, hasMore: false },
  )
})

test('the CSV of the console’s cost page is read by the model that its name means', () => {
  const csv = `usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,cost_type,inference_geo,speed,api_key_id,api_key_status
2026-11-01,Claude Haiku 4.5,Default,demo,message,≤ 200k,input_no_cache,0.05,0.05,token,not_available,,apikey_01AAA,active
2026-11-01,Claude Haiku 4.5,Default,demo,message,≤ 200k,output,0.02,0.02,token,not_available,,apikey_01AAA,active
`
  assert.deepEqual(counted(csv), [{ model: 'claude-haiku-4-5', costPicos: parseUsd('0.07') }])
  assert.deepEqual(read(csv).notCompared, [])
})

/** A page of the messages vendor's usage or cost report. */
function page(results: readonly object[], more: object = { has_more: false, next_page: null }) {
  const bucket = { starting_at: '2026-11-01T00:00:00Z', ending_at: '2026-11-02T00:00:00Z', results }
  return { data: [bucket], ...more }
}

const usageRow = {
  uncached_input_tokens: 1_500,
  cache_creation: { ephemeral_1h_input_tokens: 1_000, ephemeral_5m_input_tokens: 500 },
  cache_read_input_tokens: 200,
  output_tokens: 500,
  server_tool_use: { web_search_requests: 10 },
  api_key_id: 'apikey_01',
  workspace_id: null,
  model: 'claude-opus-4-20250514',
  service_tier: 'standard',
  context_window: '0-200k',
  inference_geo: 'global',
}

test('pages of the usage report are read alone, in one array and from several files', () => {
  const once = {
    model: 'claude-opus-4-20250514',
    input: 1_500,
    cache_write_1h: 1_000,
    cache_write_5m: 500,
    cache_read_input_tokens: 200,
    output_tokens: 500,
    web_search: 10,
  }
  const twice = Object.fromEntries(
    Object.entries(once).map(([name, value]) => [
      name,
      typeof value === 'number' ? value * 2 : value,
    ]),
  )
  const first = page([usageRow])
  const second = page([{ ...usageRow, api_key_id: 'apikey_02' }])
  assert.deepEqual(counted(JSON.stringify(first)), [once])
  assert.deepEqual(counted(JSON.stringify([first, second])), [twice])
  assert.deepEqual(counted(JSON.stringify(first), JSON.stringify(second)), [twice])
  assert.deepEqual(read(JSON.stringify(first)).notCompared, [])
})

test('pages that are missing are noticed, whatever the order of the files', () => {
  const pageOf = (day: string, isCost: boolean, hasMore: boolean): string => {
    const starting_at = `${day}T00:00:00Z`
    const ending_at = new Date(Date.parse(starting_at) + 86_400_000).toISOString()
    const results = isCost ? [{ model: 'm', amount: '1', currency: 'USD' }] : [usageRow]
    const more = { has_more: hasMore, next_page: hasMore ? 'page_2' : null }
    return JSON.stringify({ data: [{ starting_at, ending_at, results }], ...more })
  }
  const first = pageOf('2026-11-01', false, true)
  const last = pageOf('2026-11-02', false, false)
  const cost = pageOf('2026-11-02', true, false)
  for (const [texts, isMissing] of [
    [[first], true],
    [[first, last], false],
    [[last, first], false],
    [[`[${first},${last}]`], false],
    [[first, cost], true],
    [[last, cost], false],
  ] as const)
    assert.equal(read(...texts).hasMore, isMissing, texts.join(' '))
  assert.equal(read('{"data":[],"has_more":true}').hasMore, true)
})

test('amounts of the cost report are cents, and may belong to no model', () => {
  const row = {
    currency: 'USD',
    amount: '123.78912',
    workspace_id: 'wrkspc_01',
    description: 'Claude Sonnet 4 Usage - Input Tokens',
    cost_type: 'tokens',
    context_window: '0-200k',
    model: 'claude-sonnet-4-20250514',
    service_tier: 'standard',
    token_type: 'uncached_input_tokens',
    inference_geo: 'global',
  }
  const search = { ...row, amount: '10', model: null, cost_type: 'web_search', token_type: null }
  assert.deepEqual(counted(JSON.stringify(page([row, search]))), [
    { model: 'claude-sonnet-4-20250514', costPicos: parseUsd('1.2378912') },
    { model: '', costPicos: parseUsd('0.1') },
  ])
  const euros = JSON.stringify(page([{ ...row, currency: 'EUR' }]))
  assert.equal(readVendorCounts([euros], period), 'row 1: amount must be in USD')
})

/** A page of the chat vendor's usage or costs. */
function organizationPage(results: readonly object[]) {
  const startTime = period.fromMs / 1_000
  const bucket = { object: 'bucket', start_time: startTime, end_time: startTime + 86_400, results }
  return JSON.stringify({ object: 'page', data: [bucket], has_more: false, next_page: null })
}

test('in the chat vendor’s usage the input contains what was cached, and the rest is named', () => {
  const text = organizationPage([
    {
      object: 'organization.usage.completions.result',
      input_tokens: 27_444,
      output_tokens: 500,
      input_cached_tokens: 8_448,
      input_uncached_tokens: 18_996,
      input_cache_write_tokens: 0,
      input_audio_tokens: 0,
      output_audio_tokens: 0,
      num_model_requests: 5,
      project_id: 'proj_1',
      user_id: null,
      api_key_id: null,
      model: 'gpt-5-mini-2026-08-07',
      batch: false,
      service_tier: 'default',
    },
  ])
  assert.deepEqual(counted(text), [
    {
      model: 'gpt-5-mini-2026-08-07',
      requests: 5,
      prompt_tokens: 27_444,
      completion_tokens: 500,
      cached_tokens: 8_448,
      cache_creation_input_tokens: 0,
    },
  ])
  assert.deepEqual(read(text).notCompared, [
    'input_uncached_tokens',
    'input_audio_tokens',
    'output_audio_tokens',
  ])
})

test('the chat vendor’s costs are read by the model of their line item', () => {
  const row = { object: 'organization.costs.result', project_id: null }
  const cost = (value: number, item: string | null) => ({
    ...row,
    amount: { value, currency: 'usd' },
    line_item: item,
  })
  const text = organizationPage([
    cost(0.06, 'gpt-5-mini-2026-08-07, input'),
    cost(1.2e-7, 'gpt-5-mini-2026-08-07, output'),
    cost(2, null),
  ])
  assert.deepEqual(counted(text), [
    { model: 'gpt-5-mini-2026-08-07', costPicos: parseUsd('0.06000012') },
    { model: '', costPicos: parseUsd('2') },
  ])
})

test('costs may be text, and line items without a model are a cost of no model', () => {
  const row = { object: 'organization.costs.result', project_id: null, quantity: null }
  const cost = (value: string, item: string) => ({
    ...row,
    amount: { value, currency: 'usd' },
    line_item: item,
  })
  const text = organizationPage([
    cost('12.50', 'Text tokens'),
    cost('0.003835980000000000000000000000', 'gpt-5-nano, input_tokens'),
    cost('1.29e-05', 'gpt-5-nano, output'),
    cost('0E-18', 'web search tool calls'),
  ])
  assert.deepEqual(counted(text), [
    { model: '', costPicos: parseUsd('12.5') },
    { model: 'gpt-5-nano', costPicos: parseUsd('0.00384888') },
  ])
  assert.deepEqual(read(text).notCompared, [])
})

const organizationUsageCsv = `start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,api_key_id,model,batch,service_tier,input_tokens,output_tokens,input_cached_tokens,input_uncached_tokens
1793404740,1793404800,2026-10-30T23:59:00+00:00,2026-10-31T00:00:00+00:00,proj_1,7.0,,key_1,gpt-5-nano,False,default,1,1,1,0
1793491200,1793491260,2026-11-01T00:00:00+00:00,2026-11-01T00:01:00+00:00,,,,,,,,,,,
1793491260,1793491320,2026-11-01T00:01:00+00:00,2026-11-01T00:02:00+00:00,proj_1,3.0,,key_1,gpt-5-nano,False,default,7162,900,1280,5882
1793491260,1793491320,2026-11-01T00:01:00+00:00,2026-11-01T00:02:00+00:00,proj_1,1.0,,key_2,gpt-5-nano,False,default,38,100,0,38
`

test('the CSV of the chat vendor’s usage page has buckets of minutes, also empty ones', () => {
  assert.deepEqual(counted(organizationUsageCsv), [
    {
      model: 'gpt-5-nano',
      requests: 4,
      prompt_tokens: 7_200,
      completion_tokens: 1_000,
      cached_tokens: 1_280,
    },
  ])
  const { notCompared, rowsOutside } = read(organizationUsageCsv)
  assert.deepEqual(
    { notCompared, rowsOutside },
    { notCompared: ['input_uncached_tokens'], rowsOutside: 1 },
  )
})

test('the CSV of the chat vendor’s cost page is read by the model of its line items', () => {
  const csv = `start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,user_id,api_key_id,project_id,organization_id,project_name,organization_name,user_email,api_source
1793404800,1793491200,2026-10-31T00:00:00,2026-11-01T00:00:00,0.9,usd,,,"gpt-5-nano, input_tokens",,,,org-1,,One,,
1793491200,1793577600,2026-11-01T00:00:00,2026-11-02T00:00:00,,,,,,,,,,,,,
1793491200,1793577600,2026-11-01T00:00:00,2026-11-02T00:00:00,0.50,usd,1000,tokens,"gpt-5-nano, input_tokens",,key_1,proj_1,org-1,Proj,One,a@example.com,
1793577600,1793664000,2026-11-02T00:00:00,2026-11-03T00:00:00,0.25,usd,,,,,,,org-1,,One,,
`
  assert.deepEqual(counted(csv), [
    { model: 'gpt-5-nano', costPicos: parseUsd('0.5') },
    { model: '', costPicos: parseUsd('0.25') },
  ])
  const { notCompared, rowsOutside } = read(csv)
  assert.deepEqual({ notCompared, rowsOutside }, { notCompared: [], rowsOutside: 1 })
})

test('a bucket may be empty, may call its rows result, and may have any zone', () => {
  const usage = { model: 'm', input_tokens: 1, object: 'organization.usage.completions.result' }
  const bucket = (from: string, to: string, rows: object) =>
    JSON.stringify({ data: [{ starting_at: from, ending_at: to, ...rows }], has_more: false })
  const [from, to] = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z']
  assert.deepEqual(counted(bucket(from, to, { results: [] })), [])
  assert.deepEqual(counted(bucket(from, to, { result: [usage] })), [
    { model: 'm', prompt_tokens: 1 },
  ])
  const results = { results: [usage] }
  // 2026-11-01 in UTC.
  for (const [start, end] of [
    ['2026-11-01T02:00:00+02:00', '2026-11-02T02:00:00+02:00'],
    ['2026-11-01T00:00:00', '2026-11-02T00:00:00'],
    ['2026-11-01', '2026-11-02'],
  ] as const)
    assert.equal(counted(bucket(start, end, results)).length, 1, start)
  assert.equal(read(bucket('2026-11-03T00:00:00', '2026-11-04T00:00:00', results)).rowsOutside, 1)
})

test('a day may be written as its midnight', () => {
  const csv =
    'usage_date_utc,model_version,output_tokens\n2026-11-01T00:00:00Z,m,1\n2026-10-31,m,5\n'
  assert.deepEqual(counted(csv), [{ model: 'm', output_tokens: 1 }])
})

test('columns that are not known are named, and change no count', () => {
  const csv = 'model,input,mystery\nm,1,many\n'
  assert.deepEqual(counted(csv), [{ model: 'm', input: 1 }])
  assert.deepEqual(read(csv).notCompared, ['mystery'])
})

test('a column may be called as a member that every object has', () => {
  const csv = 'model,input,constructor,__proto__\nm,1,2,3\n'
  assert.deepEqual(counted(csv), [{ model: 'm', input: 1 }])
  assert.deepEqual(read(csv).notCompared, ['constructor', '__proto__'])
  const json = '[{"model":"m","input":1,"__proto__":[2],"toString":3}]'
  assert.deepEqual(read(json).notCompared, ['__proto__', 'toString'])
})

test('objects in a row may be nested deeper than a program can follow', () => {
  const depth = 200_000
  const nested = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  assert.deepEqual(counted(`[{"model":"m","input":1,"x":${nested}}]`), [{ model: 'm', input: 1 }])
})

for (const [name, texts, fault] of [
  ['nothing', [''], /empty/],
  [
    'an object that is no page',
    ['{"rows":[{"model":"m","input":1}]}'],
    /array of objects, or pages/,
  ],
  ['text that is no JSON', ['[{"model":'], /it is not JSON/],
  ['a line end that a mistake would quote', ['[{"model":\n}]'], /^it is not JSON: [^\n]*$/],
  [
    'a time beyond the calendar',
    ['[{"model":"m","input":1,"start_time":9007199254740,"end_time":9007199254741}]'],
    /no start and end/,
  ],
  ['an open quote', ['model,input\n"m,1\n'], /it is not CSV/],
  ['a column twice', ['model,input,input\nm,1,2\n'], /column input is in the heading twice/],
  ['a row that is short', ['model,input\nm\n'], /row 1 does not have as many cells/],
  ['half a token', ['model,input\nm,0.5\n'], /row 1: input must be a whole number/],
  ['a row of no model', ['model,input\n,1\n'], /model is missing; export the figures by model/],
  [
    'a day in another form',
    ['date,model,input\n01/11/2026,m,1\n'],
    /the day "01\/11\/2026"; write/,
  ],
  [
    'a row with a start and no end',
    ['start_time,end_time,model,input\n1793491200,,m,1\n'],
    /no start and end that can be read/,
  ],
  ['a cost that is no amount', ['model,cost_usd\nm,much\n'], /cost_usd must be an amount/],
  ['a file given twice', ['model,input\nm,1\n', 'model,input\nm,1\n'], /given twice/],
  [
    'a bucket without an end',
    ['{"data":[{"starting_at":"2026-11-01","results":[{}]}]}'],
    /no start and end/,
  ],
  [
    'a bucket across the edge of the period',
    ['{"data":[{"starting_at":"2026-10-25","ending_at":"2026-11-02","results":[{"model":"m"}]}]}'],
    /row 1 is partly outside the period/,
  ],
] as const)
  test(`${name} is a mistake`, () => {
    const found = readVendorCounts(texts, period)
    assert.match(typeof found === 'string' ? found : 'no mistake', fault)
  })
