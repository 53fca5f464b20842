import { backupQuery } from '../administration-parameters.ts';
import { paginated, success } from '../envelopes.ts';
import { ConfigInput } from '../resources/config.ts';
import { anyObject, parameters, uuid } from '../resources/fields.ts';
import { Health } from '../resources/health.ts';
import { admins, json, list, none, type RoutesWithout, readers, sharing } from './route.ts';

const backupParams = parameters({ backup_id: uuid('Identifier of the backup.') });

/** Settings, backups and status of the service. */
export const systemRoutes = sharing({ tag: 'system', access: admins, method: 'GET' }, {
  getConfig: {
    path: '/api/v1/config',
    summary: 'Get the settings in effect and those stored for the next start',
    audited: true,
    responses: { 200: json(success('config')) },
  },
  updateConfig: {
    method: 'PUT',
    path: '/api/v1/config',
    summary: 'Store settings; they take effect after a restart',
    audited: true,
    body: { kind: 'json', schema: ConfigInput },
    responses: { 200: json(success('config')) },
    errors: ['CONFLICT'],
  },
  listBackups: {
    path: '/api/v1/backups',
    summary: 'List backups, newest first',
    audited: true,
    query: backupQuery,
    responses: { 200: list(paginated('backup')) },
  },
  createBackup: {
    method: 'POST',
    path: '/api/v1/backups',
    summary: 'Start a backup of the whole service; one runs at a time',
    audited: true,
    responses: { 202: json(success('backup')) },
    errors: ['CONFLICT'],
  },
  getBackup: {
    path: '/api/v1/backups/:backup_id',
    summary: 'Get a backup or its progress',
    audited: true,
    params: backupParams,
    responses: { 200: json(success('backup')) },
    errors: ['NOT_FOUND'],
  },
  confirmClock: {
    method: 'POST',
    path: '/api/v1/clock/confirm',
    summary: 'Confirm that the host clock is right, if the transparency log rejects it',
    audited: true,
    responses: { 200: json(success('status')) },
  },
  getStatus: {
    path: '/api/v1/status',
    summary: 'Get the system status',
    access: readers,
    responses: { 200: json(success('status')) },
  },
  getOpenApi: {
    path: '/api/v1/openapi.json',
    summary: 'Get this OpenAPI document',
    access: 'public',
    responses: { 200: json(anyObject('An OpenAPI 3.1 document.')) },
  },
  getHealth: {
    path: '/health',
    summary: 'Check the health of the service',
    access: 'public',
    alwaysPublic: true,
    responses: { 200: json(Health), 503: json(Health) },
  },
  getMetrics: {
    path: '/metrics',
    summary: 'Get metrics in the Prometheus text format',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; version=0.0.4; charset=utf-8' } },
  },
  connect: {
    path: '/ws',
    summary: 'Open a WebSocket for subscriptions',
    access: readers,
    responses: { 101: none },
    websocket: {},
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
