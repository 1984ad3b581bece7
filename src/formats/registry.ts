/** The formats there are, and their endpoints as looked up per request. */
import { createRouter, type Found, type RouterEntry } from '../http/router.ts'
import { chatFormat } from './chat/index.ts'
import type { Format, FormatName, OperationName } from './format.ts'
import { messagesFormat } from './messages/index.ts'

const formats: Readonly<Record<FormatName, Format>> = {
  messages: messagesFormat,
  chat: chatFormat,
}

const routers = {
  messages: createRouter<OperationName>(entriesOf(messagesFormat)),
  chat: createRouter<OperationName>(entriesOf(chatFormat)),
}

export function formatOf(name: FormatName): Format {
  return formats[name]
}

/** Looks an endpoint up by method and by path behind the vendor's prefix. */
export function findOperation(
  format: FormatName,
  method: string,
  path: string,
): Found<OperationName> {
  return routers[format].find(method, path)
}

/** Where GET is served so is HEAD: it is the writer that leaves out the body. */
function entriesOf(format: Format): RouterEntry<OperationName>[] {
  return format.routes.flatMap(({ method, path, operation }) => {
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
    return methods.map((one) => ({ method: one, path, entry: operation }))
  })
}
