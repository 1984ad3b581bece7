/** Models with their prices and margins, the versions of prices, imports, and the catalogue as a file. */
import { useSearch } from '@tanstack/react-router'
import { t } from '../../messages/t.ts'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Catalogue } from './catalogue.tsx'
import { ImportPrices } from './import-prices.tsx'
import { ModelList } from './model-list.tsx'
import { PriceList } from './price-list.tsx'
import './models.css'

export function Models() {
  const { tab = 'models' } = useSearch({ from: '/shell/models' })
  return (
    <Page title={t('models.title')} hint={t('models.hint')}>
      <Tabs
        label={t('models.title')}
        current={tab}
        tabs={{
          models: { text: t('models.tabs.models'), content: <ModelList /> },
          prices: { text: t('models.tabs.prices'), content: <PriceList /> },
          import: { text: t('models.tabs.import'), content: <ImportPrices /> },
          catalogue: { text: t('models.tabs.catalogue'), content: <Catalogue /> },
        }}
      />
    </Page>
  )
}
