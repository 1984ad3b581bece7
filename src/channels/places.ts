/**
 * The names under which health knows the models of a channel. A model that is asked for in another format
 * than that of its vendor has a second place beside the usual one: its successes and failures say nothing
 * about the other. Pure. No id of a model has a space.
 */
import type { FormatName } from '../formats/format.ts'

const chatMark = ' (chat)'

/** Returns the place of a model that is asked for in this format. */
export function placeOf(model: string, asked: FormatName, vendor: FormatName): string {
  return asked === vendor ? model : inChat(model)
}

/** Returns the place of a model of the messages format that is asked for as a chat model. */
export function inChat(model: string): string {
  return model + chatMark
}

export function modelOfPlace(place: string): string {
  return place.endsWith(chatMark) ? place.slice(0, -chatMark.length) : place
}

/** Returns the format of the requests at a place. */
export function formatOfPlace(place: string, vendor: FormatName): FormatName {
  return place.endsWith(chatMark) ? 'chat' : vendor
}
