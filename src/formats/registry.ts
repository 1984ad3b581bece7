/**
 * Finds a format by its name and an operation by method and path. Clients join a base address and a path in
 * several ways; one spelling of a path is canonical, and only that is forwarded.
 */
import { createRouter, type Found, type RouterEntry } from '../http/server/router.ts'
import { chatFormat } from './chat/index.ts'
import type { Format, FormatName, Operation } from './format.ts'
import { messagesFormat } from './messages/index.ts'

const formats: Readonly<Record<FormatName, Format>> = {
  messages: messagesFormat,
  chat: chatFormat,
}

const routers = {
  messages: createRouter<Operation>(entriesOf(messagesFormat)),
  chat: createRouter<Operation>(entriesOf(chatFormat)),
}

export function formatOf(name: FormatName): Format {
  return formats[name]
}

/** Looks up an operation by its method and by the path behind the vendor's prefix. */
export function findOperation(format: FormatName, method: string, path: string): Found<Operation> {
  return routers[format].find(method, path)
}

/**
 * Returns the path of the operation that a client means: it may lack its `/v1`, or have it twice, have `//`
 * and a slash at its end. Escapes, dots and parameters of a path are not read. Returns the path as it is
 * where that leads to no operation.
 */
export function canonicalPath(format: FormatName, path: string): string {
  if (isKnown(format, path)) return path
  // Behind it stands the id of a model, which may have slashes, too.
  const [, head = path, id = ''] = /^(.*?\/models\/)([^/].*)$/.exec(path) ?? []
  const tidy = head.replace(/\/{2,}/g, '/') + id
  const bare = (id === '' ? withoutSlash(tidy) : tidy).replace(/^(?:\/v1){1,2}(?=\/)/, '')
  const candidates = bare.startsWith('/v1/') ? [] : [`/v1${bare}`, bare]
  return candidates.find((candidate) => isKnown(format, candidate)) ?? path
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function isKnown(format: FormatName, path: string): boolean {
  return routers[format].find('', path).kind !== 'path_unknown'
}

/**
 * Returns the formats whose clients call this path, whatever vendor it is below. Their base addresses may
 * have one `/v1` too many or too few.
 */
export function findFormats(path: string): readonly Format[] {
  const tidy = withoutSlash(path.replace(/\/{2,}/g, '/'))
  const called = `/v1${tidy.replace(/^(\/v1)+(?=\/)/, '')}`
  const isCalled = (operation: Operation): boolean =>
    operation.kind !== 'warm_up' &&
    (called === operation.path || called.startsWith(`${operation.path}/`))
  return Object.values(formats).filter(({ operations }) => operations.some(isCalled))
}

/** An endpoint that serves GET serves HEAD too: the response writer leaves out the body. */
function entriesOf(format: Format): RouterEntry<Operation>[] {
  return format.operations.flatMap((operation) => {
    const methods = operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method]
    return methods.map((method) => ({ method, path: operation.path, entry: operation }))
  })
}
