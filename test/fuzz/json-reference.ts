/** Where the members of an object stand in its text: a second reading, by tokens, that shares nothing. */

export interface Member {
  readonly name: string
  /** Of the value, as offsets in the text. */
  readonly start: number
  readonly end: number
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs

/** The members of the outermost object of a JSON text, in order. */
export function membersOf(text: string): readonly Member[] {
  const members: Member[] = []
  let depth = 0
  let name: string | undefined
  let start = -1
  let end = -1
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === '}' || found === ']') depth--
    if ((depth === 0 || (depth === 1 && found === ',')) && name !== undefined) {
      members.push({ name, start, end })
      name = undefined
      start = -1
    } else if (depth === 1 && name === undefined && found.startsWith('"'))
      name = JSON.parse(found) as string
    else if (depth >= 1 && name !== undefined && found !== ':' && start === -1) start = index
    end = index + found.length
    if (found === '{' || found === '[') depth++
  }
  return members
}

/** The numbers of a JSON text, as they are written. */
export function numbersOf(text: string): readonly string[] {
  return [...text.matchAll(token)].map(([found]) => found).filter((one) => /^[-\d]/.test(one))
}

export function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const [found] of text.matchAll(token)) {
    if (found === '}' || found === ']') depth--
    if (found === '{' || found === '[') deepest = Math.max(deepest, ++depth)
  }
  return deepest
}
