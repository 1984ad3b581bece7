/**
 * Which models a caller may use, and the refusal of a model that there is not: it names the nearest one that
 * the caller may use here, or the address of the vendor that has the model. Pure.
 */
import type { Principal } from '../access/key.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import { nearestWord } from '../base/nearest.ts'
import type { Model } from '../channels/channel.ts'
import { findNamedModel } from '../channels/model-names.ts'
import { formatOf } from '../formats/registry.ts'
import { pricesAt } from '../metering/prices.ts'
import type { Identified } from './stages.ts'

type Caller = Pick<Identified, 'snapshot' | 'vendor' | 'principal' | 'startedAtMs'>

export function mayUse(principal: Principal, modelId: string): boolean {
  return principal.allowedModels === undefined || principal.allowedModels.has(modelId)
}

/** A model without a price in force is not served. */
export function isServed({ principal, startedAtMs }: Caller, model: Model): boolean {
  return mayUse(principal, model.id) && pricesAt(model.prices, startedAtMs) !== undefined
}

const printableMax = 100

/** Returns a client's own text for an error message: short, and without control characters. */
export function printable(text: string): string {
  return text.slice(0, printableMax).replace(/[^\x20-\x7e]/g, '?')
}

export function unknownModel(caller: Caller, name: string): Refusal {
  return refuseModel(caller, name, `There is no model "${printable(name)}" here.`)
}

/** For a request whose path names the model: its text repeats nothing of the path. */
export function unlistedModel(caller: Caller, name: string): Refusal {
  return refuseModel(caller, name, 'There is no such model here.')
}

function refuseModel(caller: Caller, name: string, fact: string): Refusal {
  const advice = otherVendor(caller, name) ?? nearest(caller, name) ?? ''
  const list = `GET /${caller.vendor.name}/v1/models lists the models.`
  return refuse('relay.model_unknown', `${fact} ${advice}${list}`)
}

/** The usual mistake is the base address of the other vendor. */
function otherVendor(caller: Caller, name: string): string | undefined {
  const { snapshot, vendor } = caller
  const model = findNamedModel(snapshot, name)
  const owner = model === undefined ? undefined : snapshot.vendors.get(model.vendor)
  if (model === undefined || owner === undefined || owner === vendor) return undefined
  if (!isServed(caller, model)) return undefined
  const base = `/${owner.name}${formatOf(owner.format).basePath}`
  return `It is a model of /${owner.name}: the base address ends in "${base}" for most clients of the ${owner.format} format. `
}

/** Each comparison takes time, and every holder of a key may ask. */
const comparedMax = 300

function nearest(caller: Caller, name: string): string | undefined {
  const { snapshot, vendor } = caller
  const served = [...snapshot.models.values()]
    .filter((model) => model.vendor === vendor.name && isServed(caller, model))
    .flatMap(({ id, also }) => [id, ...(also ?? [])])
    .slice(0, comparedMax)
  const word = nearestWord(name, served, Math.max(2, Math.floor(name.length / 3)))
  const id = word === undefined ? undefined : findNamedModel(snapshot, word)?.id
  return id === undefined ? undefined : `Did you mean "${id}"? `
}
