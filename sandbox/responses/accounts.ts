/**
 * What the vendor keeps for each of its accounts: responses, their items, conversations. Each
 * credential is an account of its own, so the state behind one credential does not exist for
 * another. The oldest responses leave when an account has too many, so that memory stays bounded.
 */
import { hash } from 'node:crypto'
import type { JsonObject } from '../request.ts'

/** An item of an input or an output, as the vendor lists it. */
export type Item = JsonObject & { readonly id: string }

export interface StoredResponse {
  readonly id: string
  /** The response as the vendor shows it. */
  readonly shown: JsonObject
  /** What it will be when it has run in the background. */
  readonly later: JsonObject | undefined
  /** The input with all that went before it. */
  readonly input: readonly Item[]
  readonly output: readonly Item[]
  /** The items that came with this response: its own input, and its output. */
  readonly own: readonly Item[]
  readonly bytes: number
}

export interface Conversation {
  readonly id: string
  readonly shown: JsonObject
  readonly items: readonly Item[]
}

const responsesMax = 2_000
const bytesMax = 64 * 1024 * 1024
const conversationsMax = 500
const accountsMax = 500

export class VendorAccount {
  /** Says whose an encrypted content is. */
  readonly name: string
  readonly #responses = new Map<string, StoredResponse>()
  readonly #items = new Map<string, Item>()
  readonly #conversations = new Map<string, Conversation>()
  #bytes = 0

  constructor(name: string) {
    this.name = name
  }

  findResponse(id: string): StoredResponse | undefined {
    return this.#responses.get(id)
  }

  findItem(id: string): Item | undefined {
    return this.#items.get(id)
  }

  keepResponse(response: StoredResponse): void {
    this.deleteResponse(response.id)
    this.#responses.set(response.id, response)
    this.#bytes += response.bytes
    for (const item of response.own) this.#items.set(item.id, item)
    for (const [id] of this.#responses) {
      if (this.#responses.size <= responsesMax && this.#bytes <= bytesMax) break
      this.deleteResponse(id)
    }
  }

  deleteResponse(id: string): boolean {
    const stored = this.#responses.get(id)
    if (stored === undefined) return false
    this.#responses.delete(id)
    this.#bytes -= stored.bytes
    for (const item of stored.own) this.#items.delete(item.id)
    return true
  }

  findConversation(id: string): Conversation | undefined {
    return this.#conversations.get(id)
  }

  keepConversation(conversation: Conversation): void {
    this.#conversations.set(conversation.id, conversation)
    dropOldest(this.#conversations, conversationsMax)
  }

  deleteConversation(id: string): boolean {
    return this.#conversations.delete(id)
  }
}

export class VendorAccounts {
  readonly #accounts = new Map<string, VendorAccount>()

  /** Returns the account of a credential; without one, that of the channel. */
  of(credential: string | undefined, channel: string): VendorAccount {
    const name = hash('sha256', credential ?? `channel ${channel}`).slice(0, 16)
    let account = this.#accounts.get(name)
    if (account === undefined) {
      account = new VendorAccount(name)
      this.#accounts.set(name, account)
      dropOldest(this.#accounts, accountsMax)
    }
    return account
  }
}

function dropOldest(map: Map<string, unknown>, countMax: number): void {
  for (const [id] of map) {
    if (map.size <= countMax) return
    map.delete(id)
  }
}
