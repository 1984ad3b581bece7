/**
 * The yardstick: the least that a metered gateway must do, written for speed alone. It finds the account of a
 * key, reads the body, holds its highest cost, relays, reads the usage, charges exactly, and gives the last
 * byte only when the charge is durable. It has no reserve channels, limits of time or size, metrics, logs or
 * recovery, and trusts its one client and its one vendor.
 *
 * Arguments: its port, the vendor's port, a folder for new files, its one key.
 */
import { constants, openSync, write, writeSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { models, price } from '../exchanges.ts'
import type { Charge } from './lean-books.ts'

const [port = '', vendorPort = '', folder = '', key = ''] = process.argv.slice(2)
const booksUrl = new URL('lean-books.ts', import.meta.url)
const books = new Worker(booksUrl, { workerData: join(folder, `lean-${port}.db`) })

/** A finished exchange waits so long for others to share its write, and its row for others in the books. */
const gatherMs = 3
const booksMs = 250

/** Appends to a file of fixed size, in which each write is durable when it ends. */
class Journal {
  readonly #size = 33_554_432
  readonly #memory = Buffer.alloc(1_048_576)
  readonly #file: number
  #position = 0
  /** A write runs, or waits for others to share it. */
  #isBusy = false
  #waiting: Exchange[] = []
  #forBooks: Charge[] = []

  constructor(path: string) {
    const filled = openSync(path, 'w')
    for (let size = 0; size < this.#size; size += this.#memory.length)
      writeSync(filled, this.#memory)
    this.#file = openSync(path, constants.O_RDWR | constants.O_DSYNC)
  }

  add(exchange: Exchange): void {
    this.#waiting.push(exchange)
    if (!this.#isBusy) this.#gather()
  }

  #gather(): void {
    this.#isBusy = true
    setTimeout(() => this.#write(), gatherMs)
  }

  #write(): void {
    const written = this.#waiting
    this.#waiting = []
    let text = ''
    for (const { charge } of written) text += JSON.stringify(charge) + '\n'
    const length = this.#memory.write(text, 'latin1')
    if (this.#position + length > this.#size) this.#position = 0
    write(this.#file, this.#memory, 0, length, this.#position, (error) => {
      if (error !== null) throw error
      for (const exchange of written) this.#finish(exchange)
      this.#isBusy = false
      if (this.#waiting.length > 0) this.#gather()
    })
    this.#position += length
  }

  #finish(exchange: Exchange): void {
    exchange.finish()
    if (this.#forBooks.length === 0)
      setTimeout(() => {
        books.postMessage(this.#forBooks, [])
        this.#forBooks = []
      }, booksMs)
    this.#forBooks.push(exchange.charge)
  }
}

const journal = new Journal(join(folder, `lean-${port}.journal`))

interface Account {
  readonly name: string
  balanceMicro: number
  heldMicro: number
}

const accounts = new Map<string, Account>([
  [`Bearer ${key}`, { name: 'bench', balanceMicro: 1e15, heldMicro: 0 }],
])
const knownModels = new Set<string>(Object.values(models))

/** What the relay reads of a body. */
interface Facts {
  readonly model: string
  readonly max_tokens?: number
  readonly max_output_tokens?: number
}

interface Usage {
  readonly prompt_tokens?: number
  readonly input_tokens?: number
  readonly completion_tokens?: number
  readonly output_tokens?: number
}

/** Usage lies at different places by format and event. */
interface Answer {
  readonly usage?: Usage | null
  readonly message?: Answer
  readonly response?: Answer
}

let exchanges = 0

class Exchange {
  readonly client: Socket
  readonly account: Account
  readonly model: string
  readonly holdMicro: number
  readonly id = `ex_${Date.now().toString(36)}_${exchanges++}`
  #inputTokens = 0
  #outputTokens = 0
  #last: Buffer | string = ''
  charge: Charge = emptyCharge

  constructor(client: Socket, account: Account, { model, holdMicro }: Hold) {
    this.client = client
    this.account = account
    this.model = model
    this.holdMicro = holdMicro
    account.heldMicro += holdMicro
  }

  count(answer: Answer): void {
    const usage = answer.usage ?? answer.message?.usage ?? answer.response?.usage
    this.#inputTokens = usage?.input_tokens ?? usage?.prompt_tokens ?? this.#inputTokens
    this.#outputTokens = usage?.output_tokens ?? usage?.completion_tokens ?? this.#outputTokens
  }

  /** `last` is written once the charge is durable. */
  end(last: Buffer | string): void {
    this.#last = last
    this.charge = {
      id: this.id,
      account: this.account.name,
      model: this.model,
      atMs: Date.now(),
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      costMicro: this.#inputTokens * price.input + this.#outputTokens * price.output,
    }
    journal.add(this)
  }

  finish(): void {
    this.account.heldMicro -= this.holdMicro
    this.account.balanceMicro -= this.charge.costMicro
    if (typeof this.#last === 'string') this.client.write(this.#last, 'latin1')
    else this.client.write(this.#last)
  }
}

const emptyCharge: Charge = {
  id: '',
  account: '',
  model: '',
  atMs: 0,
  inputTokens: 0,
  outputTokens: 0,
  costMicro: 0,
}

interface Hold {
  readonly model: string
  readonly holdMicro: number
}

const tokenPattern = /^[\w!#$%&'*+.^`|~-]+$/

/** Names in lower case and values in turn; undefined if the head breaks the grammar. */
function readFields(head: string): readonly string[] | undefined {
  const fields: string[] = []
  let start = head.indexOf('\r\n') + 2
  while (start < head.length) {
    const end = head.indexOf('\r\n', start)
    const colon = head.indexOf(':', start)
    if (end < 0 || colon < 0 || colon > end) return undefined
    const name = head.slice(start, colon)
    if (!tokenPattern.test(name)) return undefined
    fields.push(name.toLowerCase(), head.slice(colon + 1, end).trim())
    start = end + 2
  }
  return fields
}

function findField(fields: readonly string[], name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2)
    if (fields[index] === name) return fields[index + 1]
  return undefined
}

function firstLine(head: string): string {
  return head.slice(0, head.indexOf('\r\n') + 2)
}

function writeFields(fields: readonly string[], without: ReadonlySet<string>): string {
  let text = ''
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    if (!without.has(name)) text += `${name}: ${fields[index + 1]}\r\n`
  }
  return text
}

const notForVendor: ReadonlySet<string> = new Set(['host', 'authorization', 'connection'])
const notForClient: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'date'])

const idleVendors: Vendor[] = []
/** All reads of vendors' answers share it; bytes that are kept are copied. */
const readMemory = Buffer.alloc(65_536)

/** A connection to the vendor, which has one exchange at a time. */
class Vendor {
  readonly #socket: Socket
  #exchange: Exchange | undefined
  #state: 'head' | 'whole' | 'stream' = 'head'
  #head = ''
  #body = ''
  #bodyLength = 0

  constructor() {
    const callback = (length: number): boolean => {
      this.#read(readMemory.subarray(0, length))
      return true
    }
    this.#socket = connect({
      port: Number(vendorPort),
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: readMemory, callback },
    })
    this.#socket.on('error', () => this.#socket.destroy())
    this.#socket.on('close', () => {
      const index = idleVendors.indexOf(this)
      if (index >= 0) idleVendors.splice(index, 1)
      this.#exchange?.client.destroy()
    })
  }

  send(exchange: Exchange, bytes: Buffer): void {
    this.#exchange = exchange
    this.#state = 'head'
    this.#socket.write(bytes)
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange
    if (exchange === undefined) return
    if (this.#state === 'head') this.#readHead(exchange, bytes)
    else if (this.#state === 'whole') this.#addToBody(exchange, bytes.toString('latin1'))
    else this.#relayEvents(exchange, bytes, Buffer.from(bytes))
  }

  #readHead(exchange: Exchange, bytes: Buffer): void {
    const headEnd = bytes.indexOf('\r\n\r\n')
    const head = bytes.toString('latin1', 0, headEnd + 2)
    const fields = readFields(head) ?? []
    this.#head =
      firstLine(head) + writeFields(fields, notForClient) + `x-exchange-id: ${exchange.id}\r\n\r\n`
    const length = findField(fields, 'content-length')
    this.#state = length === undefined ? 'stream' : 'whole'
    if (length === undefined) {
      const rest = bytes.subarray(headEnd + 4)
      const first = Buffer.concat([Buffer.from(this.#head, 'latin1'), rest])
      this.#relayEvents(exchange, rest, first)
      return
    }
    this.#bodyLength = Number(length)
    this.#body = ''
    this.#addToBody(exchange, bytes.toString('latin1', headEnd + 4))
  }

  #addToBody(exchange: Exchange, text: string): void {
    this.#body += text
    if (this.#body.length < this.#bodyLength) return
    exchange.count(JSON.parse(this.#body) as Answer)
    this.#end(exchange, this.#head + this.#body)
  }

  #relayEvents(exchange: Exchange, read: Buffer, written: Buffer): void {
    let start = read.indexOf('data: ')
    while (start >= 0) {
      const end = read.indexOf('\n', start)
      const line = read.toString('latin1', start + 6, end < 0 ? read.length : end)
      if (line.includes('"usage"')) exchange.count(JSON.parse(line) as Answer)
      start = read.indexOf('data: ', start + 6)
    }
    const isLast = read.length >= 5 && read.toString('latin1', read.length - 5) === '0\r\n\r\n'
    if (isLast) this.#end(exchange, written)
    else exchange.client.write(written)
  }

  #end(exchange: Exchange, last: Buffer | string): void {
    this.#exchange = undefined
    idleVendors.push(this)
    exchange.end(last)
  }
}

/** Reads the requests of one client connection, one after another. */
class Client {
  readonly #socket: Socket
  #parts: Buffer[] = []
  #length = 0
  #neededLength = 0

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => this.#read(bytes as Buffer))
    socket.on('error', () => socket.destroy())
  }

  #read(part: Buffer): void {
    this.#parts.push(part)
    this.#length += part.length
    if (this.#length < this.#neededLength) return
    const bytes = this.#parts.length === 1 ? part : Buffer.concat(this.#parts)
    const headEnd = bytes.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = bytes.toString('latin1', 0, headEnd + 2)
    const fields = readFields(head)
    if (fields === undefined) return this.#refuse(400)
    this.#neededLength = headEnd + 4 + Number(findField(fields, 'content-length') ?? 0)
    if (bytes.length < this.#neededLength) return
    this.#parts = []
    this.#length = 0
    this.#neededLength = 0
    this.#relay(head, fields, bytes.subarray(headEnd + 4))
  }

  #relay(head: string, fields: readonly string[], body: Buffer): void {
    const account = accounts.get(findField(fields, 'authorization') ?? '')
    if (account === undefined) return this.#refuse(401)
    const facts = JSON.parse(body.toString()) as Facts
    if (!knownModels.has(facts.model)) return this.#refuse(404)
    const outputMax = facts.max_tokens ?? facts.max_output_tokens ?? 1_024
    const holdMicro = (body.length / 4) * price.input + outputMax * price.output
    if (account.balanceMicro - account.heldMicro < holdMicro) return this.#refuse(402)
    const exchange = new Exchange(this.#socket, account, { model: facts.model, holdMicro })
    const sentHead =
      firstLine(head) +
      'host: 127.0.0.1\r\nauthorization: Bearer bench-vendor-credential\r\n' +
      writeFields(fields, notForVendor) +
      '\r\n'
    const bytes = Buffer.allocUnsafe(sentHead.length + body.length)
    bytes.write(sentHead, 'latin1')
    body.copy(bytes, sentHead.length)
    const vendor = idleVendors.pop() ?? new Vendor()
    vendor.send(exchange, bytes)
  }

  #refuse(status: number): void {
    this.#socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
  }
}

const server = createServer({ noDelay: true }, (socket) => new Client(socket))
server.listen({ port: Number(port), host: '127.0.0.1', backlog: 4_096 })
