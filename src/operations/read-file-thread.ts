/** The thread of read-file.ts: reads one file. */
import { answerOrder } from '../base/thread.ts'
import { readCatalogueFile } from './catalogue/file.ts'
import { readPriceList } from './prices/community-list.ts'
import type { FileOrder } from './read-file.ts'
import { readVendorCounts } from './reconcile/vendor-counts.ts'

await answerOrder((given) => {
  const order = given as FileOrder
  switch (order.kind) {
    case 'catalogue':
      return readCatalogueFile(order.text)
    case 'price_list':
      return readPriceList(order.text)
    case 'vendor_counts':
      return readVendorCounts(order.texts, order.period)
  }
})
