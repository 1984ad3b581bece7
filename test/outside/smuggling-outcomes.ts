/**
 * What a client gets, case by case, where that is not one refusal with 400 on every hop: directly, and behind
 * the samples of deploy/proxies for nginx and HAProxy. The proxies are more lenient than the gateway: they
 * repair or pass on some of the requests, and then count them as well.
 */

/** The statuses of the answers; `headless` where the proxy answers in HTTP/0.9 or HTTP/2. */
export type Statuses = readonly number[] | 'headless'

export interface Outcome {
  /** Directly: by default one 400. */
  readonly direct?: readonly number[]
  /** By default as directly. */
  readonly nginx?: Statuses
  readonly haproxy?: Statuses
  /** Requests that reach the vendor, on every hop or on each: by default none. */
  readonly served?: number | readonly [direct: number, nginx: number, haproxy: number]
}

const headless = 'headless'

export const outcomes: Readonly<Record<string, Outcome>> = {
  'TE.TE: a coding with a prefix': { nginx: [501] },
  'TE.TE: a coding with a suffix': { nginx: [501] },
  'TE.TE: a coding in quotes': { nginx: [501] },
  'TE.TE: a coding with a tab before it': { nginx: [501] },
  'TE.TE: a coding with a vertical tab before it': { nginx: [501] },
  'TE.TE: a coding with a form feed behind it': { nginx: [501] },
  'TE.TE: a coding with a byte of Latin-1 behind it': { nginx: [501] },
  'TE.TE: a coding with a comma behind it': { nginx: [501] },
  'TE.TE: a coding with a parameter': { nginx: [501] },
  'TE.TE: identity and then chunks': { nginx: [501], haproxy: [422] },
  'TE.TE: chunks and then identity': { nginx: [501] },
  'TE.TE: chunks twice in a list': { nginx: [501] },
  'TE.TE: an unknown coding in a first line': { haproxy: [422] },
  'a coding alone that is unknown': { nginx: [501] },
  'compressed chunks': { nginx: [501], haproxy: [422] },
  'CL.0: a path that reads no body': { direct: [404] },
  'CL.0: a GET with a length': { direct: [200] },
  'CL.0: OPTIONS with a length': { direct: [204] },
  'CL.0: the wrong method with a length': { direct: [405] },
  'TE.0: OPTIONS with chunks': { direct: [204] },
  'TE.0: a GET with chunks': { direct: [200] },
  '0.CL: a space before the name': { haproxy: [200, 200], served: [0, 0, 1] },
  '0.CL: a fold before the value': { haproxy: [200] },
  '0.CL: a bare LF before the name': { nginx: [200], haproxy: [200] },
  '0.CL: an underscore in the name': { direct: [404] },
  'chunks: a bare LF behind the size': {
    nginx: [200, 200],
    haproxy: [200, 200],
    served: [0, 2, 2],
  },
  'chunks: a bare LF in an extension': {
    nginx: [200, 200],
    haproxy: [200, 200],
    served: [0, 2, 2],
  },
  'chunks: a NUL in an extension': { nginx: [200, 200], haproxy: [200, 200], served: [0, 2, 2] },
  'chunks: a space behind the size': { nginx: [200, 200], haproxy: [200, 200], served: [0, 2, 2] },
  'chunks: a tab behind the size': { nginx: [200, 200], haproxy: [200, 200], served: [0, 2, 2] },
  'chunks: a bare LF behind the content': {
    nginx: [200, 200],
    haproxy: [200, 200],
    served: [0, 2, 2],
  },
  'chunks: a bare LF behind the last size': {
    nginx: [200, 200],
    haproxy: [200, 200],
    served: [0, 2, 2],
  },
  'chunks: a bare LF as the last line': {
    nginx: [200, 200],
    haproxy: [200, 200],
    served: [0, 2, 2],
  },
  'chunks: an extension': { direct: [200], served: 1 },
  'chunks: leading zeros': { direct: [200], served: 1 },
  'trailers: a length in the trailers': { direct: [200], served: 1 },
  'trailers: a coding in the trailers': { direct: [200], haproxy: [400], served: [1, 1, 0] },
  'trailers: another credential in the trailers': { direct: [200], served: 1 },
  'trailers: another host in the trailers': { direct: [200], served: 1 },
  'trailers: a bare LF': { nginx: [200, 200], haproxy: [200, 200], served: [0, 2, 2] },
  'trailers: a fold': { nginx: [200, 200], haproxy: [200, 200], served: [0, 2, 2] },
  'trailers: a NUL': { nginx: [200], served: [0, 1, 0] },
  'trailers: a space before the colon': { nginx: [200], served: [0, 1, 0] },
  'trailers: no colon': { nginx: [200, 200], served: [0, 2, 0] },
  'headers: a bare LF behind a header': { nginx: [200], haproxy: [200], served: [0, 1, 1] },
  'headers: a folded header': { haproxy: [200], served: [0, 0, 1] },
  'headers: a header folded with a tab': { haproxy: [200], served: [0, 0, 1] },
  'headers: a line of one space': { haproxy: [200], served: [0, 0, 1] },
  'headers: brackets in a name': { nginx: [200], served: [0, 1, 0] },
  'headers: no colon': { nginx: [200], served: [0, 1, 0] },
  'headers: a folded host': { haproxy: [200], served: [0, 0, 1] },
  'headers: bare LFs only': { nginx: [200], haproxy: [200], served: [0, 1, 1] },
  'headers: the length is named as a hop’s own': { direct: [200], served: 1 },
  'an empty line before the request': { direct: [200], served: 1 },
  'two empty lines before the request': { nginx: [200], haproxy: [200], served: [0, 1, 1] },
  'a bare LF before the request': { nginx: [200], haproxy: [200], served: [0, 1, 1] },
  'request line: an unknown method': { direct: [405] },
  'request line: TRACE': { direct: [405] },
  'request line: CONNECT': { direct: [405], nginx: [400], haproxy: [400] },
  'request line: an absolute target of another host': { nginx: [200], served: [0, 1, 0] },
  'request line: two spaces': { nginx: [200], haproxy: [200], served: [0, 1, 1] },
  'request line: a tab for a space': { haproxy: [200], served: [0, 0, 1] },
  'request line: HTTP/1.2': { direct: [505], nginx: [200], haproxy: [200], served: [0, 1, 1] },
  'request line: HTTP/2.0': { direct: [505], haproxy: [200], served: [0, 0, 1] },
  'request line: HTTP/9.9': { direct: [505], haproxy: [200], served: [0, 0, 1] },
  'request line: HTTP/1.10': { nginx: [200], served: [0, 1, 0] },
  'request line: a space behind the version': { nginx: [200], served: [0, 1, 0] },
  'request line: no version': { nginx: headless },
  'request line: an absolute target of this host': { nginx: [200], served: [0, 1, 0] },
  'request line: HTTP/0.9': { nginx: headless },
  'request line: the preface of HTTP/2': { direct: [505], nginx: [400], haproxy: headless },
  'an upgrade to h2c': { direct: [200], served: 1 },
  'Expect: the body comes at once': { direct: [100, 200], served: 1 },
  'Expect: refused, and a hidden request as the body': { direct: [404], nginx: [100, 404] },
  'Expect: a GET with a hidden request as the body': { direct: [200], nginx: [100, 200] },
  'Expect: in disguise': { direct: [417], nginx: [200], served: [0, 1, 0] },
  'Expect: twice': { direct: [417], nginx: [400] },
  'Expect: no body': { direct: [200], nginx: [100, 200] },
  'two requests at once': { direct: [200, 200], served: 2 },
  'a request behind a refused one': { direct: [401, 200], served: 1 },
  'a request behind a refused one of unknown length': { direct: [401, 200], served: 1 },
  'a request behind the last one': { direct: [200], served: 1 },
  'a request behind one of HTTP/1.0': { direct: [200], served: 1 },
  'other bytes behind a request': {
    direct: [200],
    nginx: [200, 400],
    haproxy: [200, 400],
    served: 1,
  },
  'a request with unusual white space': { direct: [200], nginx: [400] },
}
