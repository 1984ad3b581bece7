/**
 * Requests that no well-behaved client sends: bytes that two programs could read differently. Both listeners
 * refuse each of them.
 */

export interface ProperRequest {
  readonly path: string
  readonly credential: () => string
  readonly body: string
}

export interface Head {
  readonly line?: string
  readonly host?: string
  /** Header lines, each with its line end; by default those of a proper request. */
  readonly lines?: readonly string[]
}

/** Writes a POST; whatever `head` does not give is as it should be. */
export function writeRequest(
  { path, credential, body }: ProperRequest,
  { line, host, lines }: Head = {},
  content = body,
): string {
  const headers = lines ?? [`Content-Length: ${Buffer.byteLength(content)}\r\n`]
  return (
    `${line ?? `POST ${path} HTTP/1.1`}\r\n${host ?? 'Host: gateway\r\n'}` +
    `X-Api-Key: ${credential()}\r\nContent-Type: application/json\r\n${headers.join('')}\r\n${content}`
  )
}

export const chunked = 'Transfer-Encoding: chunked\r\n'

/** Returns what writes each of them. */
export function malformedRequests(proper: ProperRequest): Readonly<Record<string, () => string>> {
  const { path, body } = proper
  const request = (head?: Head, content?: string): string => writeRequest(proper, head, content)
  const length = `Content-Length: ${body.length}\r\n`
  const continued = 'Expect: 100-continue\r\n'
  const inChunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  return {
    'two Host headers': () => request({ host: 'Host: a\r\nHost: b\r\n' }),
    'no Host header': () => request({ host: '' }),
    'a length and chunks': () => request({ lines: [length, chunked] }, inChunks),
    'chunks and a length': () => request({ lines: [chunked, length] }, inChunks),
    'two lengths': () => request({ lines: [length, 'Content-Length: 3\r\n'] }),
    'two equal lengths': () => request({ lines: [length, length] }),
    'a list of lengths': () => request({ lines: [`Content-Length: ${body.length}, 3\r\n`] }),
    'a signed length': () => request({ lines: [`Content-Length: +${body.length}\r\n`] }),
    'a negative length': () => request({ lines: ['Content-Length: -1\r\n'] }),
    'a length that overflows': () =>
      request({ lines: ['Content-Length: 99999999999999999999\r\n'] }),
    'a length in hexadecimal': () => request({ lines: ['Content-Length: 0x10\r\n'] }),
    'an unknown transfer-encoding': () => request({ lines: ['Transfer-Encoding: xchunked\r\n'] }),
    'compressed chunks': () =>
      request({ lines: ['Transfer-Encoding: gzip, chunked\r\n'] }, inChunks),
    'two transfer-encodings': () => request({ lines: [chunked, chunked] }, inChunks),
    'identity as a transfer-encoding': () =>
      request({ lines: ['Transfer-Encoding: identity\r\n'] }),
    'a space before the colon': () =>
      request({ lines: ['Transfer-Encoding : chunked\r\n'] }, inChunks),
    'a bare LF in the head': () => request({ lines: [length, 'X-A: b\n'] }),
    'a bare CR in a value': () => request({ lines: [length, 'X-A: b\rX-B: c\r\n'] }),
    'a folded header': () => request({ lines: [length, 'X-A: b\r\n c\r\n'] }),
    'a NUL in a value': () => request({ lines: [length, 'X-A: b\0c\r\n'] }),
    'a header without a name': () => request({ lines: [length, ': b\r\n'] }),
    'a header without a colon': () => request({ lines: [length, 'X-A\r\n'] }),
    'two content types': () => request({ lines: [length, 'content-type: text/plain\r\n'] }),
    'a bare LF behind a chunk size': () =>
      request({ lines: [chunked] }, inChunks.replace('\r\n', '\n')),
    'a chunk size that is none': () => request({ lines: [chunked] }, `-1\r\n${body}\r\n0\r\n\r\n`),
    'a chunk longer than it says': () => request({ lines: [chunked] }, `5\r\n${body}\r\n0\r\n\r\n`),
    'a chunk size that overflows': () =>
      request({ lines: [chunked] }, `ffffffffffffffffff\r\n${body}\r\n0\r\n\r\n`),
    'HTTP/1.0 in chunks': () =>
      request({ line: `POST ${path} HTTP/1.0`, lines: [chunked] }, inChunks),
    'HTTP/0.9': () => 'GET /health\r\n\r\n',
    'HTTP/1.2 in the request line': () => request({ line: `POST ${path} HTTP/1.2` }),
    'HTTP/2.0 in the request line': () => request({ line: `POST ${path} HTTP/2.0` }),
    'the preface of HTTP/2': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    'a lower-case method': () => request({ line: `post ${path} HTTP/1.1` }),
    'a method that is no word': () => request({ line: `P@ST ${path} HTTP/1.1` }),
    TRACE: () => request({ line: `TRACE ${path} HTTP/1.1` }, ''),
    CONNECT: () => 'CONNECT vendor.example:443 HTTP/1.1\r\nHost: vendor.example:443\r\n\r\n',
    'an absolute target': () => request({ line: `POST http://gateway${path} HTTP/1.1` }),
    'an asterisk as the target': () =>
      'OPTIONS * HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n',
    'a target without a slash': () => request({ line: `POST ${path.slice(1)} HTTP/1.1` }),
    'a space in the target': () => request({ line: `POST ${path}/a b HTTP/1.1` }),
    'a target that is no ASCII': () => request({ line: `POST ${path}é HTTP/1.1` }),
    TLS: () => '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03' + 'x'.repeat(64),
    'nothing that is HTTP': () => '\0\x01\x02\xff\xfe\r\n\r\n',
    'a strange expectation': () => request({ lines: [length, 'Expect: 200-ok\r\n'] }),
    'two expectations': () => request({ lines: [length, continued, continued] }),
  }
}
