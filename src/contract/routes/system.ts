import { Type } from 'typebox';
import { backupQuery } from '../administration-parameters.ts';
import { paginated, success } from '../envelopes.ts';
import { ConfigInput } from '../resources/config.ts';
import { anyObject, uuid } from '../resources/fields.ts';
import { Health } from '../resources/health.ts';
import { admins, closed, json, list, none, type Route, readers } from './route.ts';

const backupParams = Type.Object({ backup_id: uuid('Identifier of the backup.') }, closed);

/** The service itself: settings, backups, status. */
export const systemRoutes = {
  getConfig: {
    method: 'GET',
    path: '/api/v1/config',
    summary: 'Settings in effect and stored for the next start',
    tag: 'system',
    access: admins,
    audited: true,
    responses: { 200: json(success('config')) },
  },
  updateConfig: {
    method: 'PUT',
    path: '/api/v1/config',
    summary: 'Store settings; they take effect after a restart',
    tag: 'system',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: ConfigInput },
    responses: { 200: json(success('config')) },
    errors: ['CONFLICT'],
  },
  listBackups: {
    method: 'GET',
    path: '/api/v1/backups',
    summary: 'List backups, newest first',
    tag: 'system',
    access: admins,
    audited: true,
    query: backupQuery,
    responses: { 200: list(paginated('backup')) },
  },
  createBackup: {
    method: 'POST',
    path: '/api/v1/backups',
    summary: 'Begin a backup of the whole service; one at a time',
    tag: 'system',
    access: admins,
    audited: true,
    responses: { 202: json(success('backup')) },
    errors: ['CONFLICT'],
  },
  getBackup: {
    method: 'GET',
    path: '/api/v1/backups/:backup_id',
    summary: 'Get one backup, or how far it is',
    tag: 'system',
    access: admins,
    audited: true,
    params: backupParams,
    responses: { 200: json(success('backup')) },
    errors: ['NOT_FOUND'],
  },
  confirmClock: {
    method: 'POST',
    path: '/api/v1/clock/confirm',
    summary: 'Confirm that the clock of the host is right, for a transparency log that refuses it',
    tag: 'system',
    access: admins,
    audited: true,
    responses: { 200: json(success('status')) },
  },
  getStatus: {
    method: 'GET',
    path: '/api/v1/status',
    summary: 'System status',
    tag: 'system',
    access: readers,
    responses: { 200: json(success('status')) },
  },
  getOpenApi: {
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'This description',
    tag: 'system',
    access: 'public',
    responses: { 200: json(anyObject('An OpenAPI 3.1 document.')) },
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    summary: 'Health check',
    tag: 'system',
    access: 'public',
    alwaysPublic: true,
    responses: { 200: json(Health), 503: json(Health) },
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    tag: 'system',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; version=0.0.4; charset=utf-8' } },
  },
  connect: {
    method: 'GET',
    path: '/ws',
    summary: 'WebSocket for subscriptions',
    tag: 'system',
    access: readers,
    responses: { 101: none },
    websocket: {},
  },
} as const satisfies Record<string, Route>;
