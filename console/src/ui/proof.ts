/** What a link or an OpenID Connect provider has put in the address of this page to sign in. */
export type Proof = { code: string } | { oidc: string }

/** Takes it out of the address at once: it must not stay in the history. */
export function takeProof(hasLink: boolean): Proof | undefined {
  const { search, hash, pathname } = location
  const isAnswer = /[?&]state=/.test(search)
  if (!isAnswer && !hasLink) return undefined
  history.replaceState(null, '', pathname)
  return isAnswer ? { oidc: search } : hash === '' ? undefined : { code: hash.slice(1) }
}
