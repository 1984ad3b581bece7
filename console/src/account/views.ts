/** The views that load a moment after the account's first one, as one script. */
export { Keys } from './keys.tsx'
export { Activity, Details, People } from './owners.tsx'
export { Prices } from './prices.tsx'
export { Receipts } from './receipts.tsx'
export { Requests } from './requests.tsx'
export { Setup } from './setup.tsx'
export { Statement } from './statement.tsx'
export { TopUp } from './top-up.tsx'
