/**
 * Requests that two programs in a row may cut apart at different places, and the cases of h1spec. Each has
 * the published work or the section of RFC 9112 that it comes from. smuggling-outcomes.ts has the answers.
 */

import type { HopName } from './hops.ts'
import { outcomes, type Outcome, type Statuses } from './smuggling-outcomes.ts'

/** What the bytes are made of. */
export interface Parts {
  readonly path: string
  readonly key: string
  /** A whole and proper body of the operation at `path`. */
  readonly body: string
}

export interface SmugglingCase {
  readonly name: string
  readonly source: string
  readonly bytes: (parts: Parts) => string
  /** They are only the beginning of a request: the client ends its side behind them. */
  readonly isPart: boolean
  /** By hop: the statuses of the answers, none where the server waits for the rest. */
  readonly answers: Readonly<Record<HopName, Statuses>>
  /** By hop: requests that reach the vendor. */
  readonly served: Readonly<Record<HopName, number>>
}

type Bytes = SmugglingCase['bytes']

const desync2019 = 'Kettle, HTTP Desync Attacks (2019)'
const http2Desync = 'Kettle, HTTP/2: The Sequel is Always Worse (2021)'
const browser2022 = 'Kettle, Browser-Powered Desync Attacks (2022)'
const te0 = 'Bhavani, Vieira, Olejniczak, TE.0 (2024)'
const funkyChunks = 'Weikop, Funky chunks (2025)'
const endgame2025 = 'Kettle, HTTP/1.1 must die: the desync endgame (2025)'
const smuggler = 'smuggler, exhaustive list of mutations'
const h1spec = 'h1spec'
const rfc = (section: string): string => `RFC 9112 section ${section}`

const chunked = 'Transfer-Encoding: chunked\r\n'

interface Message {
  readonly line?: string
  readonly host?: string
  /** Header lines with their line ends, behind the credential. */
  readonly lines: string
  readonly content: string
}

function message({ path, key }: Parts, { line, host, lines, content }: Message): string {
  return (
    `${line ?? `POST ${path} HTTP/1.1`}\r\n${host ?? 'Host: gateway\r\n'}X-Api-Key: ${key}\r\n` +
    `Content-Type: application/json\r\n${lines}\r\n${content}`
  )
}

const lengthOf = (content: string): string => `Content-Length: ${content.length}\r\n`

function proper(parts: Parts, more: Partial<Message> = {}): string {
  const content = more.content ?? parts.body
  return message(parts, { content, ...more, lines: (more.lines ?? '') + lengthOf(content) })
}

/** What an attacker hides: it would be served, and cost money. */
const hidden: Bytes = (parts) => proper(parts, { lines: 'X-Hidden: 1\r\n' })

const inChunks = (content: string): string =>
  `${content.length.toString(16)}\r\n${content}\r\n0\r\n\r\n`

/** An end of chunks and a hidden request behind it, covered by a length. */
function endThenHidden(codingLines: string): Bytes {
  return (parts) => {
    const content = `0\r\n\r\n${hidden(parts)}`
    return message(parts, { lines: lengthOf(content) + codingLines, content })
  }
}

const list: SmugglingCase[] = []

function add(name: string, source: string, bytes: Bytes, usual: Outcome = {}): void {
  const { direct = [400], nginx = direct, haproxy = direct, served = 0 } = outcomes[name] ?? usual
  const [onDirect, onNginx, onHaproxy] =
    typeof served === 'number' ? [served, served, served] : served
  list.push({
    name,
    source,
    bytes,
    isPart: direct.length === 0,
    answers: { direct, nginx, haproxy },
    served: { direct: onDirect, nginx: onNginx, haproxy: onHaproxy },
  })
}

// --- two lengths ------------------------------------------------------------------------------------

add('CL.TE', desync2019, endThenHidden(chunked))
add('TE.CL', desync2019, (parts) =>
  message(parts, { lines: `${chunked}Content-Length: 4\r\n`, content: inChunks(hidden(parts)) }),
)
const lengthCases: Readonly<Record<string, string>> = {
  'CL.CL, the longer one last': 'Content-Length: 3\r\nContent-Length: 9\r\n',
  'CL.CL, the longer one first': 'Content-Length: 9\r\nContent-Length: 3\r\n',
  'the same length twice': 'Content-Length: 9\r\nContent-Length: 9\r\n',
  'a list of one length': 'Content-Length: 9, 9\r\n',
  'a length with a plus sign': 'Content-Length: +9\r\n',
  'a length with a minus sign': 'Content-Length: -9\r\n',
  'a length in hexadecimal': 'Content-Length: 0x9\r\n',
  'a length with an underscore': 'Content-Length: 0_9\r\n',
  'a length with a fraction': 'Content-Length: 9.0\r\n',
  'a length in parts': 'Content-Length: 9 9\r\n',
  'a length of no digits': 'Content-Length: \r\n',
  'a length that is a word': 'Content-Length: nine\r\n',
  'a length in full-width digits': 'Content-Length: \xef\xbc\x99\r\n',
  'a length of 2^64 and 9': 'Content-Length: 18446744073709551625\r\n',
  'a length with a vertical tab': 'Content-Length: \x0b9\r\n',
  'a length with a NUL behind it': 'Content-Length: 9\0\r\n',
}
for (const [name, lines] of Object.entries(lengthCases))
  add(name, rfc('6.3'), (parts) => message(parts, { lines, content: '{"a":123}' }))

// --- codings in disguise ----------------------------------------------------------------------------

const codingCases: Readonly<Record<string, string>> = {
  'a coding with a prefix': 'Transfer-Encoding: xchunked\r\n',
  'a coding with a suffix': 'Transfer-Encoding: chunkedx\r\n',
  'a coding in quotes': 'Transfer-Encoding: "chunked"\r\n',
  'a coding in capitals': 'Transfer-Encoding: CHUNKED\r\n',
  'a coding with a tab before it': 'Transfer-Encoding:\tchunked\r\n',
  'a coding with a vertical tab before it': 'Transfer-Encoding: \x0bchunked\r\n',
  'a coding with a form feed behind it': 'Transfer-Encoding: chunked\x0c\r\n',
  'a coding with a NUL behind it': 'Transfer-Encoding: chunked\0\r\n',
  'a coding with a byte of Latin-1 behind it': 'Transfer-Encoding: chunked\xa0\r\n',
  'a coding with a comma behind it': 'Transfer-Encoding: chunked,\r\n',
  'a coding with a parameter': 'Transfer-Encoding: chunked;q=1\r\n',
  'identity and then chunks': 'Transfer-Encoding: identity, chunked\r\n',
  'chunks and then identity': 'Transfer-Encoding: chunked, identity\r\n',
  'chunks twice in a list': 'Transfer-Encoding: chunked, chunked\r\n',
  'an unknown coding in a second line': `${chunked}Transfer-Encoding: x\r\n`,
  'an unknown coding in a first line': `Transfer-Encoding: x\r\n${chunked}`,
  'a space before the colon of the coding': 'Transfer-Encoding : chunked\r\n',
  'a tab before the colon of the coding': 'Transfer-Encoding\t: chunked\r\n',
  'a space before the name of the coding': ' Transfer-Encoding: chunked\r\n',
  'a folded coding': 'Transfer-Encoding:\r\n chunked\r\n',
  'a fold before the colon of the coding': 'Transfer-Encoding\r\n : chunked\r\n',
  'a bare LF before the coding': 'X-A: b\nTransfer-Encoding: chunked\r\n',
  'a bare CR before the coding': 'X-A: b\rTransfer-Encoding: chunked\r\n',
  'a bare CR behind the coding': 'Transfer-Encoding: chunked\r\rX-A: b\r\n',
  'a NUL in the name of the coding': 'Transfer\0-Encoding: chunked\r\n',
  'a byte of Latin-1 before the name': '\xa0Transfer-Encoding: chunked\r\n',
}
for (const [name, lines] of Object.entries(codingCases))
  add(`TE.TE: ${name}`, `${desync2019}; ${smuggler}`, endThenHidden(lines))
add('TE.TE: an underscore in the name', smuggler, endThenHidden('Transfer_Encoding: chunked\r\n'))
add(
  'TE.TE: the coding in the value of another',
  smuggler,
  endThenHidden('X: Transfer-Encoding: chunked\r\n'),
)
add('a coding alone that is unknown', rfc('6.1'), (parts) =>
  message(parts, { lines: 'Transfer-Encoding: xchunked\r\n', content: inChunks(parts.body) }),
)
add('compressed chunks', rfc('6.1'), (parts) =>
  message(parts, { lines: 'Transfer-Encoding: gzip, chunked\r\n', content: inChunks(parts.body) }),
)
add('chunks in HTTP/1.0', rfc('6.1'), (parts) =>
  message(parts, {
    line: `POST ${parts.path} HTTP/1.0`,
    lines: chunked,
    content: inChunks(parts.body),
  }),
)

// --- a side that ignores the body -------------------------------------------------------------------

add('CL.0: a path that reads no body', browser2022, (parts) =>
  proper(parts, { line: 'POST /v1/nothing HTTP/1.1', content: hidden(parts) }),
)
add('CL.0: a GET with a length', browser2022, (parts) =>
  proper(parts, { line: 'GET /health HTTP/1.1', content: hidden(parts) }),
)
add('CL.0: OPTIONS with a length', browser2022, (parts) =>
  proper(parts, { line: `OPTIONS ${parts.path} HTTP/1.1`, content: hidden(parts) }),
)
add('CL.0: the wrong method with a length', browser2022, (parts) =>
  proper(parts, { line: `DELETE ${parts.path} HTTP/1.1`, content: hidden(parts) }),
)
add('TE.0: OPTIONS with chunks', te0, (parts) =>
  message(parts, {
    line: `OPTIONS ${parts.path} HTTP/1.1`,
    lines: chunked,
    content: inChunks(hidden(parts)),
  }),
)
add('TE.0: a GET with chunks', te0, (parts) =>
  message(parts, {
    line: 'GET /health HTTP/1.1',
    lines: chunked,
    content: inChunks(hidden(parts)),
  }),
)
const hiddenLengths: Readonly<Record<string, (length: number) => string>> = {
  'a space before the colon': (length) => `Content-Length : ${length}\r\n`,
  'a space before the name': (length) => `X-A: b\r\n Content-Length: ${length}\r\n`,
  'a fold before the value': (length) => `Content-Length:\r\n ${length}\r\n`,
  'a bare LF before the name': (length) => `X-A: b\nContent-Length: ${length}\r\n`,
  'a bare CR before the name': (length) => `X-A: b\rContent-Length: ${length}\r\n`,
  'a NUL in the name': (length) => `Content-\0Length: ${length}\r\n`,
}
for (const [name, lineOf] of Object.entries(hiddenLengths))
  add(`0.CL: ${name}`, endgame2025, (parts) =>
    message(parts, {
      line: 'GET /health HTTP/1.1',
      lines: lineOf(hidden(parts).length),
      content: hidden(parts),
    }),
  )
add('0.CL: an underscore in the name', endgame2025, (parts) =>
  message(parts, {
    line: 'GET /v1/nothing HTTP/1.1',
    lines: `Content_Length: 9\r\nConnection: close\r\n`,
    content: '{"a":123}',
  }),
)

// --- chunks -----------------------------------------------------------------------------------------

const inParts = (head: (size: string) => string): ((content: string) => string) => {
  return (content) => `${head(content.length.toString(16))}${content}\r\n0\r\n\r\n`
}
const chunkCases: Readonly<Record<string, (content: string) => string>> = {
  'a bare LF behind the size': inParts((size) => `${size}\n`),
  'a bare CR behind the size': inParts((size) => `${size}\r`),
  'two CRs behind the size': inParts((size) => `${size}\r\r\n`),
  'a bare LF in an extension': inParts((size) => `${size};\n`),
  'a bare LF in the value of an extension': inParts((size) => `${size};a=b\nc\r\n`),
  'a bare CR in an extension': inParts((size) => `${size};a\rb\r\n`),
  'a NUL in an extension': inParts((size) => `${size};a\0\r\n`),
  'a size with 0x': inParts((size) => `0x${size}\r\n`),
  'a size with a plus sign': inParts((size) => `+${size}\r\n`),
  'a size with a minus sign': inParts((size) => `-${size}\r\n`),
  'a size with an underscore': inParts((size) => `0_${size}\r\n`),
  'a space before the size': inParts((size) => ` ${size}\r\n`),
  'a space behind the size': inParts((size) => `${size} \r\n`),
  'a tab behind the size': inParts((size) => `${size}\t\r\n`),
  'a size of 2^64 and more': inParts((size) => `10000000000000000${size}\r\n`),
  'no size': inParts(() => '\r\n'),
  'a size with a comma': inParts((size) => `${size},0\r\n`),
  'a bare LF behind the content': (content) =>
    `${content.length.toString(16)}\r\n${content}\n0\r\n\r\n`,
  'no line end behind the content': (content) =>
    `${content.length.toString(16)}\r\n${content}0\r\n\r\n`,
  'other bytes behind the content': (content) =>
    `${content.length.toString(16)}\r\n${content}XX0\r\n\r\n`,
  'content that is longer than its size': (content) => `5\r\n${content}\r\n0\r\n\r\n`,
  'a bare LF behind the last size': (content) =>
    `${content.length.toString(16)}\r\n${content}\r\n0\n\r\n`,
  'a bare LF as the last line': (content) =>
    `${content.length.toString(16)}\r\n${content}\r\n0\r\n\n`,
}
for (const [name, contentOf] of Object.entries(chunkCases))
  add(`chunks: ${name}`, funkyChunks, (parts) =>
    message(parts, { lines: chunked, content: contentOf(parts.body) + hidden(parts) }),
  )
add('chunks: an extension', rfc('7.1.1'), (parts) =>
  message(parts, {
    lines: chunked,
    content: inParts((size) => `${size};a=b;c="d"\r\n`)(parts.body),
  }),
)
add('chunks: leading zeros', rfc('7.1'), (parts) =>
  message(parts, { lines: chunked, content: inParts((size) => `000${size}\r\n`)(parts.body) }),
)
const trailerCases: Readonly<Record<string, string>> = {
  'a length in the trailers': 'Content-Length: 99\r\n',
  'a coding in the trailers': 'Transfer-Encoding: x\r\n',
  'another credential in the trailers': 'X-Api-Key: cr_other\r\n',
  'another host in the trailers': 'Host: other\r\n',
}
const withTrailer = ({ body }: Parts, trailer: string): string =>
  `${body.length.toString(16)}\r\n${body}\r\n0\r\n${trailer}\r\n`
for (const [name, trailer] of Object.entries(trailerCases))
  add(`trailers: ${name}`, rfc('7.1.2'), (parts) =>
    message(parts, { lines: chunked, content: withTrailer(parts, trailer) }),
  )
const brokenTrailers: Readonly<Record<string, string>> = {
  'a bare LF': 'X-A: b\n',
  'a fold': 'X-A: b\r\n c\r\n',
  'no colon': 'X-A\r\n',
}
for (const [name, trailer] of Object.entries(brokenTrailers))
  add(`trailers: ${name}`, rfc('7.1.2'), (parts) =>
    message(parts, { lines: chunked, content: withTrailer(parts, trailer) + hidden(parts) }),
  )

for (const [name, trailer] of [
  ['a NUL', 'X-A: b\0\r\n'],
  ['a space before the colon', 'X-A : b\r\n'],
] as const)
  add(`trailers: ${name}`, rfc('7.1.2'), (parts) =>
    // With a request behind it, the answers of HAProxy would depend on time.
    message(parts, { lines: chunked, content: withTrailer(parts, trailer) }),
  )

// --- lines ------------------------------------------------------------------------------------------

const lineCases: Readonly<Record<string, string>> = {
  'a bare LF behind a header': 'X-A: b\n',
  'a bare CR in a value': 'X-A: b\rX-B: c\r\n',
  'a folded header': 'X-A: b\r\n c\r\n',
  'a header folded with a tab': 'X-A: b\r\n\tc\r\n',
  'a line of one space': ' \r\n',
  'a NUL in a value': 'X-A: b\0c\r\n',
  'a NUL in a name': 'X-\0A: b\r\n',
  'a DEL in a value': 'X-A: b\x7f\r\n',
  'a control character in a value': 'X-A: b\x07\r\n',
  'a space before a colon': 'X-A : b\r\n',
  'a tab before a colon': 'X-A\t: b\r\n',
  'a space in a name': 'X A: b\r\n',
  'brackets in a name': 'X-A[]: b\r\n',
  'no name': ': b\r\n',
  'no colon': 'X-A\r\n',
  'a second host': 'Host: other\r\n',
  'a second host in capitals': 'HOST: other\r\n',
}
for (const [name, lines] of Object.entries(lineCases))
  add(`headers: ${name}`, rfc('5'), (parts) => proper(parts, { lines }))
add('headers: a space behind the request line', rfc('2.2'), (parts) =>
  proper(parts, { host: ' Host: gateway\r\n' }),
)
add('headers: a folded host', rfc('5.2'), (parts) => proper(parts, { host: 'Host: a\r\n b\r\n' }))
add('headers: no host', rfc('3.2'), (parts) => proper(parts, { host: '' }))
add('headers: bare LFs only', rfc('2.2'), (parts) => proper(parts).replaceAll('\r\n', '\n'))
add(
  'headers: bare CRs only',
  rfc('2.2'),
  (parts) => `${proper(parts).replaceAll('\r\n', '\r')}\r\n\r\n`,
)
add('headers: the length is named as a hop’s own', desync2019, (parts) =>
  proper(parts, { lines: 'Connection: Content-Length, Host\r\n' }),
)
add('an empty line before the request', rfc('2.2'), (parts) => `\r\n${proper(parts)}`)
add('two empty lines before the request', rfc('2.2'), (parts) => `\r\n\r\n${proper(parts)}`)
add('a bare LF before the request', rfc('2.2'), (parts) => `\n${proper(parts)}`)

// --- request lines ----------------------------------------------------------------------------------

const requestLines: Readonly<Record<string, (path: string) => string>> = {
  'a method in lower case': (path) => `post ${path} HTTP/1.1`,
  'a method with another character': (path) => `P@ST ${path} HTTP/1.1`,
  'an unknown method': (path) => `SMUGGLE ${path} HTTP/1.1`,
  'no method': (path) => ` ${path} HTTP/1.1`,
  TRACE: (path) => `TRACE ${path} HTTP/1.1`,
  CONNECT: () => 'CONNECT vendor.example:443 HTTP/1.1',
  'an absolute target of another host': (path) => `POST http://other.example${path} HTTP/1.1`,
  'an absolute target with a name of a user': (path) => `POST http://a@gateway${path} HTTP/1.1`,
  'an asterisk': () => 'POST * HTTP/1.1',
  'a target without a slash': (path) => `POST ${path.slice(1)} HTTP/1.1`,
  'a space in the target': (path) => `POST ${path} x HTTP/1.1`,
  'a NUL in the target': (path) => `POST ${path}\0 HTTP/1.1`,
  'a byte of Latin-1 in the target': (path) => `POST ${path}\xe9 HTTP/1.1`,
  'two spaces': (path) => `POST  ${path} HTTP/1.1`,
  'a tab for a space': (path) => `POST\t${path}\tHTTP/1.1`,
  'a bare CR in the line': (path) => `POST ${path}\rHTTP/1.1`,
  'HTTP/1.2': (path) => `POST ${path} HTTP/1.2`,
  'HTTP/2.0': (path) => `POST ${path} HTTP/2.0`,
  'HTTP/9.9': (path) => `POST ${path} HTTP/9.9`,
  'HTTP/1.10': (path) => `POST ${path} HTTP/1.10`,
  'http/1.1': (path) => `POST ${path} http/1.1`,
  'a space behind the version': (path) => `POST ${path} HTTP/1.1 `,
  'no version': (path) => `POST ${path}`,
}
for (const [name, lineOf] of Object.entries(requestLines))
  add(`request line: ${name}`, rfc('3'), (parts) => proper(parts, { line: lineOf(parts.path) }))
add('request line: an absolute target of this host', rfc('3.2.2'), (parts) =>
  proper(parts, { line: `POST http://gateway${parts.path} HTTP/1.1` }),
)
add('request line: HTTP/0.9', rfc('3'), () => 'GET /health\r\n\r\n')
add('request line: the preface of HTTP/2', http2Desync, () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
add('an upgrade to h2c', 'Emil Lerner, h2c smuggling (2020)', (parts) =>
  proper(parts, {
    lines: 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
  }),
)

// --- Expect, and requests ahead of answers ----------------------------------------------------------

add('Expect: the body comes at once', endgame2025, (parts) =>
  proper(parts, { lines: 'Expect: 100-continue\r\n' }),
)
add('Expect: refused, and a hidden request as the body', endgame2025, (parts) =>
  proper(parts, {
    line: 'POST /v1/nothing HTTP/1.1',
    lines: 'Expect: 100-continue\r\n',
    content: hidden(parts),
  }),
)
add('Expect: a GET with a hidden request as the body', endgame2025, (parts) =>
  proper(parts, {
    line: 'GET /health HTTP/1.1',
    lines: 'Expect: 100-continue\r\n',
    content: hidden(parts),
  }),
)
add('Expect: in disguise', endgame2025, (parts) =>
  proper(parts, { lines: 'Expect: y 100-continue\r\n' }),
)
add('Expect: twice', endgame2025, (parts) =>
  proper(parts, { lines: 'Expect: 100-continue\r\nExpect: 100-continue\r\n' }),
)
add(
  'Expect: no body',
  h1spec,
  () => 'GET /health HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n',
)
add('two requests at once', rfc('9.3.2'), (parts) => proper(parts) + proper(parts))
add(
  'a request behind a refused one',
  rfc('9.3.2'),
  (parts) => proper({ ...parts, key: 'cr_unknown' }) + proper(parts),
)
add(
  'a request behind a refused one of unknown length',
  rfc('9.3.2'),
  (parts) =>
    message({ ...parts, key: 'cr_unknown' }, { lines: chunked, content: inChunks(parts.body) }) +
    hidden(parts),
)
add(
  'a request behind the last one',
  rfc('9.6'),
  (parts) => proper(parts, { lines: 'Connection: close\r\n' }) + hidden(parts),
)
add(
  'a request behind one of HTTP/1.0',
  rfc('9.3'),
  (parts) => proper(parts, { line: `POST ${parts.path} HTTP/1.0` }) + hidden(parts),
)
add('other bytes behind a request', rfc('9.2'), (parts) => `${proper(parts)}\0\0other\r\n\r\n`)

// --- h1spec: what is left of its list ---------------------------------------------------------------

const head = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n'
const places = [1, 4, 8, 12, 13, 17, 20, 21, 22, 25, 27, 28, 29, 30, 31, 32]
for (const place of places.filter((each) => each < head.length))
  add(`the first ${place} bytes of a request`, h1spec, () => head.slice(0, place), {
    direct: [],
    haproxy: [400],
  })
add(
  'a request with unusual white space',
  h1spec,
  () => 'GET /health HTTP/1.1\r\nhoSt:\ta\r\nempty:\r\nempty-too: \r\nConnection: close\r\n\r\n',
)
add('other bytes before the request', h1spec, () => `Extra line${head}`)
add('a CR for an empty line', h1spec, () => 'GET /health HTTP/1.1\r\nHost: a\r\n\rX-A: b\r\n\r\n')

export const smugglingCases: readonly SmugglingCase[] = list
