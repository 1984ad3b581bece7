/**
 * The sandbox's own endpoints under `/_sandbox/`, for tests that run it as a program:
 *
 *   GET    /_sandbox                     directive names, error presets, gate points
 *   PUT    /_sandbox/faults/{channel}    body: directives; several lines: one for each request in turn
 *   DELETE /_sandbox/faults[/{channel}]
 *   POST   /_sandbox/release/{id}        opens a gate
 *   GET    /_sandbox/reached/{id}        answers when an exchange waits at the gate
 *   GET    /_sandbox/log[?marker=…|channel=…]     DELETE removes all records
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { directiveNames, gatePoints } from './directives.ts'
import { errorPresets } from './error-presets.ts'
import type { Faults } from './faults.ts'
import { readBody } from './exchange.ts'
import type { RecordLog } from './log.ts'
import type { ServedRecord } from './served-record.ts'

export const controlPrefix = '/_sandbox'

export interface Controlled {
  readonly faults: Faults
  readonly log: RecordLog
}

interface Reply {
  readonly status: number
  readonly content: unknown
}

export async function serveControl(
  controlled: Controlled,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = (await readBody(request))?.toString('utf8') ?? ''
  const url = new URL(request.url ?? '', 'http://sandbox')
  const [, , area = '', name = ''] = url.pathname.split('/').map(decodeURIComponent)
  const command = `${request.method ?? ''} ${area}`
  const reply = await runCommand(controlled, { command, name, body, query: url.searchParams })
  response.writeHead(reply.status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(reply.content))
}

interface Command {
  readonly command: string
  readonly name: string
  readonly body: string
  readonly query: URLSearchParams
}

async function runCommand({ faults, log }: Controlled, given: Command): Promise<Reply> {
  const { command, name, body, query } = given
  switch (command) {
    case 'GET ':
      return done({
        directives: directiveNames,
        errors: [...errorPresets.keys()],
        gates: gatePoints,
      })
    case 'PUT faults':
      return setFaults(faults, name, body)
    case 'DELETE faults':
      faults.clear(name === '' ? undefined : name)
      return done({})
    case 'POST release':
      faults.release(name)
      return done({})
    case 'GET reached':
      await faults.reached(name)
      return done({})
    case 'GET log':
      return done(findRecords(log, query).map(withoutBodies))
    case 'DELETE log':
      log.clear()
      return done({})
    default:
      return { status: 404, content: { error: 'The sandbox has no such command.' } }
  }
}

function done(content: unknown): Reply {
  return { status: 200, content }
}

function setFaults(faults: Faults, channel: string, body: string): Reply {
  const lines = body.replace(/\n$/, '').split('\n')
  try {
    faults.set(channel, lines.length === 1 ? body : lines)
    return done({})
  } catch (error) {
    return { status: 400, content: { error: error instanceof Error ? error.message : 'wrong' } }
  }
}

function findRecords(log: RecordLog, query: URLSearchParams): readonly ServedRecord[] {
  const marker = query.get('marker')
  const channel = query.get('channel')
  if (marker !== null) return log.forMarker(marker)
  return channel === null ? log.records : log.forChannel(channel)
}

function withoutBodies(record: ServedRecord): unknown {
  const { requestBody: _request, responseBody: _response, ...rest } = record
  return rest
}
