/** Finds a format by its name and an operation by method and path. */
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
 * Returns the formats whose clients call this path, whatever vendor it is below. Their base addresses may
 * have one `/v1` too many or too few.
 */
export function findFormats(path: string): readonly Format[] {
  const called = `/v1${path.replace(/^(\/v1)+(?=\/)/, '')}`
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
