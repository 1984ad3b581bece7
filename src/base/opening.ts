/**
 * Opening several things one after the other as if it were one step: where a later one fails, what
 * was opened before it is closed again, latest first, and the failure is what the caller hears.
 */

/**
 * `open` notes on the stack how to close each thing as soon as it has it. Where it succeeds the stack
 * is its own: disposing of it closes everything, also where closing one of them fails.
 */
export async function openAll<Result>(
  open: (opened: AsyncDisposableStack) => Promise<Result>,
): Promise<Result> {
  const opened = new AsyncDisposableStack()
  try {
    return await open(opened)
  } catch (error) {
    // What goes wrong in closing says less than why it came to that.
    await opened.disposeAsync().catch(() => undefined)
    throw error
  }
}
