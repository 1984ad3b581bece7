/**
 * The parts of earlier answers that a request names. Their state is in one vendor account of the operator, so
 * only the account that has made it may use it, and only on the channel that holds it. Foreign state is
 * refused with the words for state that does not exist.
 *
 *     state          own                                foreign      unknown
 *     needed         pins the exchange to its channel   refused      refused
 *     encrypted      pins the exchange to its channel   refused      passes
 *     repeated in    its channel is tried first         refused      passes
 *     full, or a
 *     container
 */
import { refuse, type Refusal } from '../base/errors.ts'
import type { Channel } from '../channels/channel.ts'
import { noExtras } from '../formats/fields.ts'
import type { RequestFacts, StateReference, StoredOperation } from '../formats/format.ts'
import { isStoredWithAnswer } from '../formats/answer.ts'
import { dropRest } from '../http/server/request.ts'
import { stateName, type AnswerStateKey, type FoundState } from '../ledger/answer-state-store.ts'
import type { BodyRoom } from '../access/limits.ts'
import { bodyLimits, findHeadFault, findModel, type ModelRefusal } from './prepare.ts'
import { printable } from './served-models.ts'
import { RequestBody, fill, type Identified, type Prepared, type RelayServices } from './stages.ts'

type StateServices = Pick<RelayServices, 'answerStates' | 'clock'>

/** One query of the store reads a thousand. */
const referencesMax = 10_000

/** Adds to a request the facts of the earlier answers that it names; most name none, and wait for nothing. */
export function findEarlierAnswers(
  prepared: Prepared,
  services: StateServices,
): Prepared | Refusal | Promise<Prepared | Refusal> {
  const { facts, vendor } = prepared
  const references = facts.references ?? []
  if (vendor.storedResponses === 'refuse') {
    const isAsked = facts.asksStorage === true || references.some(isStored)
    if (isAsked) return notStored
  }
  if (references.length === 0) return prepared
  if (references.length > referencesMax)
    return refuse(
      'relay.request_invalid',
      `The request names more than ${referencesMax} items of earlier answers.`,
    )
  return placeFound(prepared, references, services)
}

async function placeFound(
  prepared: Prepared,
  references: readonly StateReference[],
  services: StateServices,
): Promise<Prepared | Refusal> {
  const states = await find(prepared, references, services)
  for (const reference of references) {
    const state = states.get(stateName(stateKey(reference)))
    if (state === undefined ? reference.isNeeded : !isUsable(reference, state))
      return unknown(reference)
  }
  return place(prepared, references, states)
}

/** An item in full is the request's own, under any name that the account has seen. */
function isUsable({ kind, isNeeded }: StateReference, { owner }: FoundState): boolean {
  return owner === 'own' || (owner === 'made_again' && kind !== 'encrypted' && !isNeeded)
}

function isStored({ kind, isNeeded }: StateReference): boolean {
  return isNeeded && isStoredWithAnswer(kind)
}

const notStored = refuse(
  'relay.request_invalid',
  'Stored responses are not available here; leave `store` out or set it to false, and send all of `input`.',
)

async function find(
  { vendor, principal }: Identified,
  references: readonly Pick<StateReference, 'kind' | 'id'>[],
  { answerStates, clock }: StateServices,
): Promise<ReadonlyMap<string, FoundState>> {
  const known =
    vendor.storedResponses === 'own'
      ? references
      : references.filter(({ kind }) => !isStoredWithAnswer(kind))
  const { accountId } = principal
  return answerStates.find(known.map(stateKey), {
    vendor: vendor.name,
    accountId,
    nowMs: clock.now(),
  })
}

/** The store knows one kind of all that outlasts a stored answer: no id of a container is a hash. */
export function stateKey({ kind, id }: Pick<StateReference, 'kind' | 'id'>): AnswerStateKey {
  return { kind: kind === 'container' ? 'encrypted' : kind, id }
}

/** Every refusal has the vendor's words for state that does not exist. */
function unknown({ kind, id }: Pick<StateReference, 'kind' | 'id'>): Refusal {
  switch (kind) {
    case 'response':
      return refuse(
        'relay.previous_response_unknown',
        `Previous response with id '${printable(id)}' not found.`,
      )
    case 'item':
      return refuse('relay.item_unknown', `Item with id '${printable(id)}' not found.`)
    case 'container':
      return refuse('relay.item_unknown', `Container with id '${printable(id)}' not found.`)
    case 'encrypted':
      return refuse(
        'relay.encrypted_content_unreadable',
        'The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
      )
  }
}

/** The place of the state decides where the request can go, and what it adds to the prompt. */
function place(
  prepared: Prepared,
  references: readonly StateReference[],
  states: ReadonlyMap<string, FoundState>,
): Prepared | Refusal {
  const needed: FoundState[] = []
  const pins = new Set<string>()
  let preferred: string | undefined
  for (const reference of references) {
    const state = states.get(stateName(stateKey(reference)))
    if (state === undefined) continue
    if (reference.isNeeded) needed.push(state)
    if (reference.isNeeded || reference.kind === 'encrypted') pins.add(state.channel)
    else preferred = state.channel
  }
  const [name, other] = pins
  if (other !== undefined) return divided
  const facts = withStoredPrompt(prepared.facts, needed)
  if (name === undefined) return fill(prepared, { facts, preferredChannel: preferred })
  const pinnedTo = findChannel(prepared, name)
  return pinnedTo === undefined ? gone : fill(prepared, { facts, pinnedTo })
}

const divided = refuse(
  'relay.state_unavailable',
  'The request names earlier answers that no single vendor account can read. Send the whole input without their ids and without encrypted content.',
)

const gone = refuse(
  'relay.state_unavailable',
  'An earlier answer that this request names can no longer be reached. Start a new conversation: send the whole input without ids of earlier answers and without encrypted content.',
)

/** Undefined where it is retired, disabled by the operator or does not serve the model. */
function findChannel(
  { snapshot, model }: Pick<Prepared, 'snapshot' | 'model'>,
  name: string,
): Channel | undefined {
  const channel = snapshot.channels.get(name)
  if (channel === undefined || channel.override === 'disabled') return undefined
  return channel.models.has(model.id) ? channel : undefined
}

/** The vendor puts them before the model; no body shows them. */
function withStoredPrompt(facts: RequestFacts, needed: readonly FoundState[]): RequestFacts {
  const byAnswer = new Map<string, number>()
  for (const { kind, id, responseId = id, inputTokens, outputTokens } of needed) {
    const tokens = kind === 'response' ? inputTokens + outputTokens : outputTokens
    byAnswer.set(responseId, Math.max(byAnswer.get(responseId) ?? 0, tokens))
  }
  const { prompt } = facts
  let { likely } = prompt
  for (const tokens of byAnswer.values()) likely += tokens
  return { ...facts, prompt: { ...prompt, likely } }
}

/** A request for one stored answer: all it has is the id in its path. */
export interface StoredRequest {
  readonly operation: StoredOperation
  readonly id: string
}

/** Reads a request for a stored answer: the answer's model and channel take the place of a body. */
export async function prepareStored(
  identified: Identified,
  { operation, id }: StoredRequest,
  room: BodyRoom,
  services: StateServices & Pick<RelayServices, 'settings'>,
): Promise<Prepared | ModelRefusal> {
  await dropRest(identified.request, bodyLimits(services))
  const queryFault = operation.findQueryFault(identified.query)
  if (queryFault !== undefined) return refuse('relay.request_invalid', queryFault.message)
  const headFault = findHeadFault(identified)
  if (headFault !== undefined) return headFault
  const reference = { kind: 'response', id } as const
  const state = (await find(identified, [reference], services)).get(stateName(reference))
  if (state?.owner !== 'own')
    return refuse('relay.response_unknown', `Response with id '${id}' not found.`)
  const found = findModel(identified, operation, state.model)
  if (found.kind === 'refusal') return found.code === 'relay.model_unknown' ? gone : found
  const { model, prices } = found
  const pinnedTo = findChannel({ snapshot: identified.snapshot, model }, state.channel)
  if (pinnedTo === undefined) return gone
  const facts = storedFacts(model.id)
  const body = new RequestBody(Buffer.alloc(0), room)
  return fill(identified, {
    operation,
    model,
    prices,
    otherPrices: [],
    outputLimits: [],
    body,
    facts,
    pinnedTo,
    storedId: id,
  })
}

function storedFacts(model: string): RequestFacts {
  return {
    model,
    outputLimits: {},
    isStream: false,
    choiceCount: 1,
    isPlainText: false,
    prompt: { likely: 0, audioLikely: 0, most: 0, images: 0, audioMost: 0 },
    asksUsageChunk: false,
    extras: noExtras,
    spans: { model: { start: 0, end: 0 }, firstMember: 0 },
  }
}
