/** The views that load a moment after the account's first one, as one script. */
export { Keys } from './keys.tsx'
export { Prices } from './prices.tsx'
export { Requests } from './requests.tsx'
export { Setup } from './setup.tsx'
export { Statement } from './statement.tsx'
