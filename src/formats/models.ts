/**
 * The two operations that list models. Formats differ only in how they show a model and a list. The relay
 * decides which models a key may see.
 */
import type { ListedModel, ModelsOperation } from './format.ts'

export function modelsOperations<Shown>(
  show: (model: ListedModel) => Shown,
  list: (data: readonly Shown[]) => object,
): readonly ModelsOperation[] {
  return [
    {
      kind: 'models',
      name: 'models.list',
      method: 'GET',
      path: '/v1/models',
      answer: (models) => toJson(list(models.map(show))),
    },
    {
      kind: 'models',
      name: 'models.get',
      method: 'GET',
      path: '/v1/models/*id',
      answer(models, id) {
        const model = models.find((candidate) => candidate.id === id)
        return model === undefined ? undefined : toJson(show(model))
      },
    },
  ]
}

export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
