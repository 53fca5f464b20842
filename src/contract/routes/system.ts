import { backupQuery } from '../administration-parameters.ts';
import { ConfigInput } from '../resources/config.ts';
import { anyObject } from '../resources/fields.ts';
import { Health } from '../resources/health.ts';
import { accepted, admins, get, json, none, one, page, post, put, readers, sharing } from './route.ts';

/** Settings, backups and status of the service. */
export const systemRoutes = sharing({ tag: 'system', access: admins })({
  getConfig: get('/api/v1/config', 'Get the settings in effect and those stored for the next start', {
    audited: true,
    responses: one('config'),
  }),
  updateConfig: put('/api/v1/config', 'Store settings; they take effect after a restart', {
    audited: true,
    body: { kind: 'json', schema: ConfigInput },
    responses: one('config'),
    errors: ['CONFLICT'],
  }),
  listBackups: get('/api/v1/backups', 'List backups, newest first', {
    audited: true,
    query: backupQuery,
    responses: page('backup'),
  }),
  createBackup: post('/api/v1/backups', 'Start a backup of the whole service; one runs at a time', {
    audited: true,
    responses: accepted('backup'),
    errors: ['CONFLICT'],
  }),
  getBackup: get('/api/v1/backups/:backup_id', 'Get a backup or its progress', {
    audited: true,
    responses: one('backup'),
  }),
  confirmClock: post(
    '/api/v1/clock/confirm',
    'Confirm that the host clock is right, if the transparency log rejects it',
    { audited: true, responses: one('status') },
  ),
  getStatus: get('/api/v1/status', 'Get the system status', { access: readers, responses: one('status') }),
  getOpenApi: get('/api/v1/openapi.json', 'Get this OpenAPI document', {
    access: 'public',
    responses: { 200: json(anyObject('An OpenAPI 3.1 document.')) },
  }),
  getHealth: get('/health', 'Check the health of the service', {
    access: 'public',
    alwaysPublic: true,
    responses: { 200: json(Health), 503: json(Health) },
  }),
  getMetrics: get('/metrics', 'Get metrics in the Prometheus text format', {
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; version=0.0.4; charset=utf-8' } },
  }),
  connect: get('/ws', 'Open a WebSocket for subscriptions', {
    access: readers,
    responses: { 101: none },
    websocket: {},
  }),
});
