/**
 * The recorded part of a vendor's refusal: the type, the code and the parameter of its error, never its
 * message, which quotes what clients send. Only short plain words are kept, and of a parameter only the names
 * of the format's own fields: behind them follow names that a client has chosen. Pure.
 */
import type { VendorError } from './answer.ts'
import { findField } from './field-names.ts'
import { namesVendorAccount } from './vendor-error.ts'

export interface VendorReason {
  readonly type: string | null
  readonly code: string | null
  readonly param: string | null
}

const plainWord = /^[\w.[\]-]{1,64}$/

/** Returns undefined where no part of the error can be kept. */
export function reasonOf({ type, code, param }: VendorError): VendorReason | undefined {
  const reason = {
    type: keptWord(type),
    code: keptWord(code),
    param: keptWord(param === undefined ? undefined : ownPart(param)),
  }
  return Object.values(reason).every((word) => word === null) ? undefined : reason
}

function keptWord(word: string | undefined): string | null {
  return word !== undefined && plainWord.test(word) && !mayBeSecret(word) ? word : null
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i
/** So long a run of letters and digits is a key, a hash or an id; the words of vendors are shorter. */
const keyLength = { withDigits: 16, lettersOnly: 32 }

/** Some servers put what they were sent into a code: a key, an account, the id of a file. */
function mayBeSecret(word: string): boolean {
  const isKey = (run: string): boolean =>
    run.length >= (/\d/.test(run) ? keyLength.withDigits : keyLength.lettersOnly)
  return namesVendorAccount(word) || uuid.test(word) || word.split(/[^a-z0-9]+/i).some(isKey)
}

const indexOnly = /^\d{1,6}$/
const nameWithIndexes = /^(\w{1,64})(?:\[\d{1,6}\])*$/

/** Returns the beginning of a parameter such as `tools[0].function.parameters`, up to the last field. */
function ownPart(param: string): string {
  const kept: string[] = []
  for (const segment of param.split('.')) {
    const [, name = ''] = nameWithIndexes.exec(segment) ?? []
    const isIndex = kept.length > 0 && indexOnly.test(segment)
    if (!isIndex && findField(name) === undefined && !otherFields.has(name)) break
    kept.push(segment)
    if (freeFields.has(name)) break
  }
  return kept.join('.')
}

/** Fields whose members a client names. */
const freeFields: ReadonlySet<string> = new Set(
  `arguments chat_template_kwargs input_schema logit_bias metadata parameters schema`.split(' '),
)

/** Fields of requests that the gateway itself does not read, as the vendors document them. */
const otherFields: ReadonlySet<string> = new Set([
  ...freeFields,
  ...`
  allowed_tools annotations approximate betas cache_control cache_scope call_id citations context custom
  description detail developer dimensions disable_parallel_tool_use display encoding_format extra_body filename
  filters frequency_penalty function function_call functions grammar guided_json include input instructions
  json_schema logprobs max_num_results min_p mode output_config parallel_tool_calls partial_mode
  pdf play presence_penalty prediction prompt_cache_key prompt_cache_retention ranking_options
  repetition_penalty require_approval response_format role safety_identifier seed server_label server_url
  signature size stop stop_sequences strict syntax system_fingerprint tool_choice tool_call_id tool_use_id top_k
  top_logprobs top_p truncation ttl user user_location verbosity voice
  `
    .trim()
    .split(/\s+/),
])
