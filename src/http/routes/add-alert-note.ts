import { afterCommit } from '../after-commit.ts';
import type { Handler } from '../context.ts';
import { created } from '../reply.ts';

export const addAlertNote: Handler<'addAlertNote'> = async ({ services, params, body, identity }) => {
  const { note, update } = await services.store.addNote(params.alert_id, body.text, identity.principal);
  afterCommit(services, () => services.publishAlert(update));
  const { id, ...attributes } = note;
  return created('alert_note', id, attributes, `/api/v1/alerts/${params.alert_id}/notes`);
};
