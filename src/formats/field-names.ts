/**
 * The names of the members that the rules for fields read, and how a name in a body is compared with them:
 * in any spelling that JSON allows, and as a reader that ignores letter case would.
 */

/** A test checks that every name that the rules use is here. Small ASCII letters and `_` only. */
const keptNames = `
  model max_tokens max_completion_tokens stream stream_options include_usage n messages
  system tools service_tier temperature speed inference_geo store container thread
  prompt best_of suffix echo
  moderation web_search_options modalities fallbacks mcp_servers models plugins
  search_parameters enable_search route type content source data file_id image_url url
  input_audio format file file_data audio id max_uses text thinking name tool_calls
  instructions max_output_tokens max_tool_calls background conversation prompt
  previous_response_id prompt_cache_key prompt_cache_options prewarm generate comparison_response_id output summary
  encrypted_content container_id refusal result code queries file_url file_ids environment
  media_type audio_url document document_url image images input_video video video_url
  context_management edits
  input_image_mask approval_request_id memory_limit output_format frame_count svg tunnel_id
  reasoning reasoning_effort enable_thinking thinking_budget chat_template_kwargs effort enabled budget_tokens
`

/** Of these only the length counts where they are an object or array in the body. */
const textNames: ReadonlySet<string> = new Set(
  'input function arguments action operation'.split(' '),
)

/** Lists whose elements are names; in any other list only the length of texts counts. */
const nameLists: ReadonlySet<string> = new Set(['modalities', 'models', 'fallbacks'])

/** Texts of which only the length is read, however they begin. */
const lengthNames: ReadonlySet<string> = new Set(
  'arguments content instructions output system text thinking'.split(' '),
)

/**
 * How much of a long text is read: its length only, also its beginning, or all of it, which identifies what
 * it stands for.
 */
export type ReadPart = 'length' | 'beginning' | 'whole'

/** A name that the rules read, and what they read under it. */
export interface FieldName {
  readonly name: string
  /** Only the length of an object or array counts. */
  readonly isText: boolean
  readonly isNameList: boolean
  readonly readPart: ReadPart
}

const fields: ReadonlyMap<string, FieldName> = new Map(
  [...keptNames.trim().split(/\s+/), ...textNames].map((name) => [
    name,
    {
      name,
      isText: textNames.has(name),
      isNameList: nameLists.has(name),
      readPart:
        name === 'encrypted_content' ? 'whole' : lengthNames.has(name) ? 'length' : 'beginning',
    },
  ]),
)
const nameLengthMax = Math.max(...[...fields.keys()].map((name) => name.length))

/** By length and first letter: hardly ever more than one has both. */
const fieldsByStart: (readonly FieldName[] | undefined)[] = []
for (const field of fields.values()) {
  const start = field.name.length * 128 + field.name.charCodeAt(0)
  fieldsByStart[start] = [...(fieldsByStart[start] ?? []), field]
}

export function findField(name: string): FieldName | undefined {
  return fields.get(name)
}

/** Returns the field whose name the text spells from `from` to `to`, without any escape. */
export function plainField(text: string, from: number, to: number): FieldName | undefined {
  const length = to - from
  if (length > nameLengthMax || length === 0) return undefined
  const first = text.charCodeAt(from)
  const candidates = first > 0x7f ? undefined : fieldsByStart[length * 128 + first]
  if (candidates !== undefined)
    for (const field of candidates) if (text.startsWith(field.name, from)) return field
  return undefined
}

export interface FoldedName {
  /** With the small letter for each letter in another case. */
  readonly name: string
  /** Some letter was in another case. */
  readonly isOtherCase: boolean
}

const smallK = 0x6b
const smallS = 0x73
const underscore = 0x5f
const backslash = 0x5c
const kelvinSign = 0x212a
const longS = 0x17f

/**
 * Reads a name in any spelling and letter case; undefined where it has anything but ASCII letters and `_`.
 * Two letters beyond ASCII fold into ASCII letters: they occur as bytes of UTF-8, or escaped like any other.
 */
export function foldName(text: string, from: number, to: number): FoldedName | undefined {
  let name = ''
  let isOtherCase = false
  let at = from
  while (at < to) {
    let code = text.charCodeAt(at)
    let width = 1
    if (code === backslash && text.charCodeAt(at + 1) === 0x75) {
      code = Number.parseInt(text.slice(at + 2, at + 6), 16)
      width = 6
    } else if (code === 0xc5 && text.charCodeAt(at + 1) === 0xbf) {
      code = longS
      width = 2
    } else if (code === 0xe2 && text.startsWith('\x84\xaa', at + 1)) {
      code = kelvinSign
      width = 3
    }
    const small = smallLetter(code)
    if (small === undefined || name.length === nameLengthMax) return undefined
    isOtherCase ||= small !== code
    name += String.fromCharCode(small)
    at += width
  }
  return { name, isOtherCase }
}

function smallLetter(code: number): number | undefined {
  if ((code >= 0x61 && code <= 0x7a) || code === underscore) return code
  if (code >= 0x41 && code <= 0x5a) return code + 0x20
  if (code === longS) return smallS
  return code === kelvinSign ? smallK : undefined
}
