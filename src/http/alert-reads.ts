import type { Alert } from '../contract/resources/alert.ts';
import { invalidField, ServiceError } from '../errors.ts';
import { withAssets } from '../events/alert-assets.ts';
import type { AlertChange, AlertChanged } from '../store/store.ts';
import { afterCommit } from './after-commit.ts';
import { type Reply, resource } from './reply.ts';
import type { Services } from './services.ts';

/** The alert, or NOT_FOUND. */
export function readAlert(id: string, { reader }: Services): Alert {
  const alert = reader.getAlert(id);
  if (alert === undefined) throw new ServiceError('NOT_FOUND', `there is no alert ${id}`);
  return alert;
}

/** @throws INVALID_REQUEST where a change names an assignee who is not an active user. */
export function requireAssignee({ assignee }: AlertChange, { reader }: Pick<Services, 'reader'>): void {
  if (!assignee) return;
  const user = reader.principalByName(assignee);
  if (user?.kind !== 'user' || user.status !== 'active')
    throw invalidField('assignee', 'must be the name of an active user');
}

/** Tells subscribers and the outbox pump of a committed change, and makes it the answer. */
export function announce(update: AlertChanged, services: Services): Reply {
  afterCommit(services, () => {
    if (!update.unchanged) services.publishAlert(update);
    services.pokeOutbox();
  });
  const { assets } = services.reader;
  assets.refresh();
  const { id, ...attributes } = withAssets(update.alert, assets);
  return resource('alert', id, attributes);
}
