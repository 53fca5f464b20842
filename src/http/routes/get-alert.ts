import { readAlert } from '../alert-reads.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getAlert: Handler<'getAlert'> = ({ services, params }) =>
  resource('alert', params.alert_id, readAlert(params.alert_id, services));
