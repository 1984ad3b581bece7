/** The state of this page in its address. */
import { addressOf, oneOf, text } from '../../search.ts'
import { listFields } from '../../ui/list/address.ts'

const tabs = ['models', 'prices', 'import', 'catalogue'] as const

export const readSearch = addressOf({
  ...listFields([
    'model',
    'input',
    'output',
    'cache_read',
    'cache_write_5m',
    'cache_write_1h',
    'channels',
    'requests',
    'spend',
    'margin',
    'share',
  ]),
  tab: oneOf(tabs),
  /** A part of the names to show. */
  name: text,
  vendor: text,
  /** The model whose prices are shown. */
  model: text,
  /** The entry of the catalogue file at which it opens: its section and its name. */
  section: oneOf(['vendors', 'models', 'channels']),
  entry: text,
})
