/** Reads lists that the API gives in pages. */

interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}

/** The largest page of the API. */
export const largestPage = 1_000

/** Reads all pages of a list that stays small, such as the models. */
export async function readAllPages<Item>(
  readPage: (page: { limit: number; cursor?: string }) => Promise<PageOf<Item>>,
): Promise<readonly Item[]> {
  const all: Item[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    const page: PageOf<Item> = await readPage({
      limit: largestPage,
      ...(cursor !== undefined && { cursor }),
    })
    all.push(...page.items)
    cursor = page.next_cursor
  }
  return all
}
