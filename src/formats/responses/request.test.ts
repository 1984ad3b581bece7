import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { noExtras } from '../fields.ts'
import type { RequestFacts, VendorFeature } from '../format.ts'
import { responsesCreate } from './index.ts'

interface Reading {
  readonly requireMaxTokens?: boolean
  readonly allowed?: readonly VendorFeature[]
}

function read(body: object | string, { requireMaxTokens = false, allowed = [] }: Reading = {}) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return responsesCreate.readRequest(bytes, {
    requireMaxTokens,
    allowedFeatures: new Set(allowed),
  })
}

function factsOf(body: object | string, reading?: Reading): RequestFacts {
  const facts = read(body, reading)
  if ('kind' in facts) assert.fail(facts.message)
  return facts
}

function faultOf(body: object | string, reading?: Reading): string {
  const facts = read(body, reading)
  if (!('kind' in facts)) assert.fail('the body was accepted')
  return facts.message
}

const plain = { model: 'large-1', input: 'Hi' }
const image = `data:image/png;base64,${'A'.repeat(40_000)}`

describe('the fields', () => {
  test('of a plain request', () => {
    const facts = factsOf({ ...plain, max_output_tokens: 50, stream: true, temperature: 1 })
    const { model, outputLimits, isStream, choiceCount, asksUsageChunk, extras } = facts
    assert.deepEqual(
      { model, outputLimits, isStream, choiceCount, asksUsageChunk },
      {
        model: 'large-1',
        outputLimits: { max_output_tokens: 50 },
        isStream: true,
        choiceCount: 1,
        asksUsageChunk: false,
      },
    )
    assert.equal(extras, noExtras)
    assert.equal(facts.isPlainText, true)
    assert.equal(factsOf({ ...plain, previous_response_id: 'resp_1' }).isPlainText, false)
    assert.equal(facts.references, undefined)
    assert.equal(facts.storesAnswer, true)
    assert.equal(facts.asksStorage, undefined)
  })

  test('may be null, and the limit may be missing unless the vendor requires it', () => {
    const nulls = {
      max_output_tokens: null,
      stream: null,
      temperature: null,
      previous_response_id: null,
      conversation: null,
      prompt: null,
      background: null,
      service_tier: null,
    }
    assert.deepEqual(factsOf({ ...plain, ...nulls }).outputLimits, {})
    assert.match(faultOf(plain, { requireMaxTokens: true }), /`max_output_tokens` is required/)
  })

  const refused: readonly [string, object | string, RegExp][] = [
    ['no input', { model: 'm' }, /`input` is required/],
    ['input null', { model: 'm', input: null }, /`input` is required/],
    ['an empty input', { model: 'm', input: [] }, /`input` is required/],
    ['an input of another kind', { model: 'm', input: { role: 'user' } }, /`input` is required/],
    ['an item that is a text', { model: 'm', input: ['Hi'] }, /item of `input` must be an object/],
    ['an item that is a list', { model: 'm', input: [[{ id: 'x' }]] }, /must be an object/],
    ['no model', { input: 'Hi' }, /`model`/],
    [
      'a limit of zero',
      { ...plain, max_output_tokens: 0 },
      /`max_output_tokens` must be an integer/,
    ],
    ['background', { ...plain, background: true }, /background are not available/],
    ['a response by number', { ...plain, previous_response_id: 7 }, /must be a string/],
    ['input twice', '{"model":"m","input":"a","input":"b"}', /`input` occurs twice/],
    ['Store', '{"model":"m","input":"a","Store":false}', /`store`.*letter case/],
    [
      'an id twice',
      '{"model":"m","input":[{"type":"item_reference","id":"a","\\u0069d":"b"}]}',
      /`id` twice, or in another letter case/,
    ],
    [
      'an id in another letter case',
      '{"model":"m","input":[{"type":"item_reference","id":"a","ID":"b"}]}',
      /`id` twice, or in another letter case/,
    ],
    [
      'an id that ends early',
      '{"model":"m","input":[{"type":"item_reference","id":"a","id\\u0000":"b"}]}',
      /U\+0000/,
    ],
  ]
  for (const [name, body, message] of refused)
    test(`${name} is refused`, () => {
      assert.match(faultOf(body), message)
    })

  test('names in tools are the client’s own', () => {
    const properties = { ID: { type: 'string' }, Type: { type: 'string' } }
    factsOf({ ...plain, tools: [{ type: 'function', name: 'f', parameters: { properties } }] })
  })

  test('input may be missing where something else stands in for it', () => {
    factsOf({ model: 'm', previous_response_id: 'resp_1' })
    factsOf({ model: 'm', conversation: 'conv_1' }, { allowed: ['conversations'] })
    factsOf({ model: 'm', prompt: { id: 'pmpt_1' } }, { allowed: ['stored_prompts'] })
  })

  test('the tier has the name that answers use', () => {
    assert.deepEqual(factsOf({ ...plain, service_tier: 'fast' }).service, { tier: 'priority' })
    assert.deepEqual(factsOf({ ...plain, service_tier: 'flex' }).service, { tier: 'flex' })
  })

  test('a long lifetime of the prompt’s cache is part of the hold', () => {
    const cached = { ...plain, prompt_cache_options: { ttl: '12h' } }
    assert.equal(factsOf(cached).cacheWrite, 'long')
    assert.equal(factsOf(plain).cacheWrite, undefined)
    for (const [letter, escaped] of [
      ['t', 't\\u0074l'],
      ['1', '\\u0031'],
    ] as const) {
      const text = JSON.stringify(cached).replace(letter === 't' ? 'ttl' : '1', escaped)
      assert.equal(factsOf(text).cacheWrite, 'long', text)
    }
  })
})

describe('the estimate', () => {
  function usualOf(body: object): number {
    return factsOf({ model: 'm', ...body }).prompt.likely
  }

  test('counts the text of every kind of item', () => {
    const text = 'word '.repeat(400)
    const empty = usualOf({ input: [{ type: 'message', role: 'user', content: '' }] })
    const items: readonly object[] = [
      { role: 'user', content: text },
      { role: 'user', content: [{ type: 'input_text', text }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: text }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: text },
      { type: 'function_call_output', call_id: 'c', output: text },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text }] },
      { type: 'custom_tool_call', call_id: 'c', name: 'f', input: text },
      { type: 'reasoning', summary: [{ type: 'summary_text', text }] },
      { type: 'reasoning', summary: [], encrypted_content: text },
      { type: 'local_shell_call', action: { type: 'exec', command: [text] } },
      { type: 'apply_patch_call', operation: { type: 'update_file', diff: text } },
      { type: 'code_interpreter_call', code: text },
    ]
    for (const item of items) {
      const usual = usualOf({ input: [item] })
      assert.ok(
        usual >= empty + 400 && usual < empty + 900,
        `${JSON.stringify(item).slice(0, 60)} ${usual}`,
      )
    }
    assert.ok(usualOf({ input: text }) >= 400)
    assert.ok(usualOf({ input: 'Hi', instructions: text }) >= 400)
  })

  test('takes data for what it is, wherever it is', () => {
    const places: readonly object[] = [
      { role: 'user', content: [{ type: 'input_image', image_url: image }] },
      {
        type: 'function_call_output',
        call_id: 'c',
        output: [{ type: 'input_image', image_url: image }],
      },
      {
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: image },
      },
      { type: 'image_generation_call', id: 'ig_1', result: image },
    ]
    for (const item of places) {
      const facts = factsOf({ model: 'm', input: [item] })
      const { likely, most, images } = facts.prompt
      assert.ok(likely >= 1_500 && likely < 1_700, JSON.stringify(item).slice(0, 60))
      assert.ok(most < 2_300 && images === 1)
    }
  })
})

describe('what acts on the operator’s account', () => {
  const cases: readonly [VendorFeature, object, RegExp][] = [
    ['conversations', { conversation: 'conv_1' }, /Conversations/],
    ['stored_prompts', { prompt: { id: 'pmpt_1' } }, /Stored prompts/],
    ['moderation', { moderation: { model: 'omni' } }, /Moderation/],
    ['account_files', fileIn({ type: 'input_file', file_id: 'file-1' }), /Files/],
    ['account_files', fileIn({ type: 'input_image', file_id: 'file-1' }), /Files/],
    ['account_files', fileIn({ type: 'brand_new', file_id: 'file-1' }), /Files/],
    ['account_files', fileIn({ type: 'file', file: { file_id: 'file-1' } }), /Files/],
    [
      'account_files',
      { tools: [{ type: 'function', input_image_mask: { file_id: 'file-1' } }] },
      /Files/,
    ],
    [
      'file_search',
      { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      /File search/,
    ],
    ['mcp', { tools: [{ type: 'mcp', server_label: 'x', server_url: 'https://x' }] }, /MCP/],
    [
      'containers',
      { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
      /Containers/,
    ],
    ['other_tools', { tools: [{ type: 'teleport' }] }, /type of tool/],
    [
      'file_search',
      { input: [{ type: 'additional_tools', tools: [{ type: 'file_search' }] }] },
      /File search/,
    ],
    ['mcp', { tools: [{ type: 'namespace', tools: [{ type: 'mcp' }] }] }, /MCP/],
  ]
  for (const [feature, fields, message] of cases)
    test(`${feature} in ${JSON.stringify(fields)} is refused unless it is allowed`, () => {
      assert.match(faultOf({ ...plain, ...fields }), message)
      factsOf({ ...plain, ...fields }, { allowed: [feature] })
    })

  test('tools that may have a price are counted, and need no permission', () => {
    const cases = [
      [{ type: 'web_search' }, 10, undefined],
      [{ type: 'web_search_preview_2025_03_11' }, 10, undefined],
      [codeInterpreter({ type: 'auto' }), 0, { code_interpreter: 10 }],
      [{ type: 'image_generation' }, 0, { image_generation: 10 }],
    ] as const
    for (const [tool, searches, others] of cases)
      for (const fields of [
        { tools: [tool] },
        { tools: [{ type: 'namespace', tools: [tool] }] },
        { input: [{ type: 'additional_tools', tools: [tool] }] },
      ]) {
        const { extras } = factsOf({ ...plain, ...fields })
        assert.deepEqual([extras.webSearchesMax, extras.vendorTools], [searches, others])
      }
  })

  test('files and ids of containers need a separate permission', () => {
    const files = { ...plain, tools: [codeInterpreter({ type: 'auto', file_ids: ['file-1'] })] }
    assert.match(faultOf(files), /Files/)
    const variables = { one: { type: 'input_file', file_id: 'file-1' }, two: '"file_id": "a"' }
    const prompt = JSON.stringify({ ...plain, prompt: { id: 'pmpt_1', variables } })
    for (const text of [prompt, prompt.replaceAll('file_id', 'file\\u005fid')])
      assert.match(faultOf(text, { allowed: ['stored_prompts'] }), /Files/)
    factsOf(prompt, { allowed: ['stored_prompts', 'account_files'] })
    const { one: _, ...texts } = variables
    factsOf(
      { ...plain, prompt: { id: 'pmpt_1', variables: texts } },
      { allowed: ['stored_prompts'] },
    )
    const named = { ...plain, tools: [codeInterpreter('cntr_1')] }
    assert.match(faultOf(named), /Containers/)
    factsOf(named, { allowed: ['containers'] })
  })

  const dearer: readonly (readonly [string, object])[] = [
    ['code_interpreter', { container: { type: 'auto', memory_limit: '64g' } }],
    ['image_generation', { output_format: 'gif' }],
    ['image_generation', { output_format: 'png', frame_count: 30 }],
    ['image_generation', { svg: { model: 'large-1' } }],
    ['mcp', { server_label: 's', tunnel_id: 'tunnel_1' }],
  ]
  for (const [tool, options] of dearer)
    test(`${JSON.stringify(options)} needs a separate permission with ${tool}`, () => {
      const body = { ...plain, tools: [{ type: tool, ...options }] }
      assert.match(
        faultOf(body, { allowed: ['mcp'] }),
        /or an option of one, that is not available/,
      )
      factsOf(body, { allowed: ['mcp', 'other_tools'] })
    })

  test('options that cost no more pass with their tool', () => {
    const container = { type: 'auto', memory_limit: '1g' }
    factsOf({
      ...plain,
      tools: [
        { type: 'code_interpreter', container },
        { type: 'image_generation', output_format: 'webp', frame_count: null },
        { type: 'function', name: 'f', output_format: 'gif' },
      ],
    })
  })

  test('a tool is found however deep it is nested', () => {
    const nested = { type: 'namespace', tools: [{ type: 'mcp' }] }
    const tools = [{ type: 'namespace', tools: [{ type: 'namespace', tools: [nested] }] }]
    assert.match(faultOf({ ...plain, tools }), /MCP/)
  })

  test('tools that the client runs pass', () => {
    const types = ['function', 'custom', 'local_shell', 'shell', 'apply_patch', 'computer']
    const facts = factsOf({
      ...plain,
      tools: [
        ...types.map((type) => ({ type })),
        { type: 'shell', environment: { type: 'local' } },
      ],
    })
    assert.equal(facts.extras.serverTools, undefined)
  })

  test('the hold covers as many uses as the request allows', () => {
    const tools = [{ type: 'web_search' }, { type: 'file_search' }, { type: 'mcp' }]
    const allowed = ['file_search', 'mcp'] as const
    const usesOf = (limit?: number): unknown[] => {
      const { extras } = factsOf({ ...plain, tools, max_tool_calls: limit }, { allowed })
      const { uses, isLimited } = extras.serverTools ?? {}
      assert.equal(uses, extras.webSearchesMax)
      assert.equal(isLimited, limit !== undefined)
      return [extras.webSearchesMax, extras.vendorTools]
    }
    assert.deepEqual(usesOf(3), [3, { file_search: 3 }])
    // A server may know no such limit: then its uses are charged too.
    assert.deepEqual(usesOf(0), [1, { file_search: 1 }])
    assert.deepEqual(usesOf(), [10, { file_search: 10 }])
    assert.deepEqual(usesOf(100_000), [200, { file_search: 200 }])
  })

  function fileIn(part: object): object {
    return { input: [{ role: 'user', content: [part] }] }
  }

  function codeInterpreter(container: unknown): object {
    return { type: 'code_interpreter', container }
  }
})

describe('what a request names of earlier answers', () => {
  function referencesOf(input: readonly object[], fields: object = {}) {
    return (factsOf({ model: 'm', input, ...fields }).references ?? []).map(
      ({ kind, id, isNeeded }) => `${kind} ${id}${isNeeded ? ' needed' : ''}`,
    )
  }

  test('a response that it continues or compares with', () => {
    const named = referencesOf([{ role: 'user', content: 'Hi' }], {
      previous_response_id: 'resp_1',
      prompt_cache_options: { comparison_response_id: 'resp_2' },
    })
    assert.deepEqual(named, ['response resp_1 needed', 'response resp_2 needed'])
  })

  const needed: readonly object[] = [
    { type: 'item_reference', id: 'x' },
    { id: 'x' },
    { id: 'x', type: null },
    { type: 'reasoning', id: 'x', summary: [] },
    { type: 'reasoning', id: 'x', summary: [], encrypted_content: null },
    { type: 'image_generation_call', id: 'x', result: null },
    { type: 'function_call', id: 'x' },
    { type: 'brand_new', id: 'x', content: 'y' },
    { type: 'compaction', id: 'x' },
  ]
  for (const item of needed)
    test(`${JSON.stringify(item)} is needed`, () => {
      assert.deepEqual(referencesOf([item]), ['item x needed'])
    })

  const selfContained: readonly object[] = [
    { type: 'message', id: 'x', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
    { id: 'x', role: 'assistant', content: 'a' },
    { type: 'function_call', id: 'x', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', id: 'x', call_id: 'c', output: 'a' },
    { type: 'custom_tool_call', id: 'x', call_id: 'c', name: 'f', input: 'a' },
    { type: 'reasoning', id: 'x', content: [{ type: 'reasoning_text', text: 'a' }] },
    { type: 'web_search_call', id: 'x', action: { type: 'search', query: 'a' } },
    { type: 'local_shell_call', id: 'x', action: { type: 'exec', command: ['ls'] } },
    { type: 'image_generation_call', id: 'x', result: 'AAAA' },
  ]
  for (const item of selfContained)
    test(`${JSON.stringify(item)} is self-contained`, () => {
      assert.deepEqual(referencesOf([item]), ['item x'])
    })

  test('encrypted content, by its hash', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA=\\/' }
    assert.deepEqual(referencesOf([item, { type: 'compaction', encrypted_content: 'b' }]), [
      `encrypted ${hash('sha256', 'gAAAA=\\/', 'base64url')}`,
      'item rs_1',
      `encrypted ${hash('sha256', 'b', 'base64url')}`,
    ])
  })

  test('encrypted content in a part', () => {
    const part = { type: 'encrypted_content', encrypted_content: 'c' }
    assert.deepEqual(referencesOf([{ type: 'agent_message', id: 'am_1', content: [part] }]), [
      `encrypted ${hash('sha256', 'c', 'base64url')}`,
      'item am_1',
    ])
  })

  test('each once, needed where one place needs it', () => {
    const message = { type: 'message', id: 'x', role: 'assistant', content: 'a' }
    assert.deepEqual(referencesOf([message, { id: 'x' }, message]), ['item x needed'])
  })

  test('an approval of an item that is not in the body', () => {
    const asked = { type: 'mcp_approval_request', id: 'mcpr_1', arguments: '{}', name: 'f' }
    const approval = { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }
    assert.deepEqual(referencesOf([approval]), ['item mcpr_1 needed'])
    assert.deepEqual(referencesOf([asked, approval]), ['item mcpr_1'])
  })

  test('whether the answer is kept, and whether that is asked for', () => {
    const kept = (store?: unknown): unknown[] => {
      const { storesAnswer, asksStorage } = factsOf({ ...plain, store })
      return [storesAnswer, asksStorage]
    }
    assert.deepEqual(kept(), [true, undefined])
    assert.deepEqual(kept(null), [true, undefined])
    assert.deepEqual(kept(true), [true, true])
    assert.deepEqual(kept(false), [undefined, undefined])
  })
})

test('a body of any shape is read or refused, and no more', () => {
  const names = fc.constantFrom(
    ...`type id content text image_url file_id file_data output arguments tools container
      environment file_ids encrypted_content summary result input_audio data format
      approval_request_id comparison_response_id x`.split(/\s+/),
  )
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, 0, -1, 1e300, '', 'a', 'function', 'message', 'reasoning'),
      fc.constantFrom(
        'input_image',
        'input_file',
        'mcp_approval_response',
        'image_generation_call',
      ),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(names, tie('json'), { maxKeys: 5 }),
    ),
  }))
  const fields = fc.constantFrom('instructions', 'tools', 'prompt', 'store', 'stream', 'modalities')
  const member = fc.tuple(fc.oneof(fields, fc.constant('prompt_cache_options')), json)
  const features = ['account_files', 'containers', 'other_tools', 'stored_prompts'] as const
  fc.assert(
    fc.property(fc.array(json, { maxLength: 4 }), fc.array(member), (input, members) => {
      const facts = read(
        { model: 'm', input, ...Object.fromEntries(members) },
        { allowed: features },
      )
      if ('kind' in facts) assert.equal(typeof facts.message, 'string')
      else assert.ok(facts.prompt.likely >= 0 && facts.prompt.most >= facts.prompt.likely / 5)
    }),
    { numRuns: 500 },
  )
})

test('only the model’s name is ever amended', () => {
  const body = Buffer.from('{ "input" : "model", "model":"large-1" ,"stream":true}')
  const facts = factsOf(body.toString())
  assert.equal(responsesCreate.amend(body, facts, undefined), body)
  assert.equal(responsesCreate.amend(body, facts, 'large-1'), body)
  const renamed = responsesCreate.amend(body, facts, 'other')
  assert.equal(String(renamed), '{ "input" : "model", "model":"other" ,"stream":true}')
})

test('a body of very many items is read in little time, or refused', () => {
  const items = Array.from({ length: 199_000 }, (_, index) => `{"id":"${index}"}`).join()
  assert.equal(factsOf(`{"model":"m","input":[${items}]}`).references?.length, 199_000)
  const many = Array.from({ length: 200_001 }, () => '{"id":"a"}').join()
  assert.match(faultOf(`{"model":"m","input":[${many}]}`), /more than 200000/)
})
