/**
 * Opens several resources as one step: if a later one fails, the earlier ones are closed again, latest
 * first, and the caller gets the failure.
 */

/**
 * `open` registers on the stack how to close each resource as soon as it is open. If it succeeds, it owns
 * the stack: disposing of the stack closes everything, also if closing one of them fails.
 */
export async function openAll<Result>(
  open: (opened: AsyncDisposableStack) => Promise<Result>,
): Promise<Result> {
  const opened = new AsyncDisposableStack()
  try {
    return await open(opened)
  } catch (error) {
    // The first failure says more than a failure to close.
    await opened.disposeAsync().catch(() => undefined)
    throw error
  }
}
