import { Type } from 'typebox';
import { backupQuery } from '../administration-parameters.ts';
import { paginated, success } from '../envelopes.ts';
import { ConfigInput } from '../resources/config.ts';
import { anyObject, uuid } from '../resources/fields.ts';
import { Health } from '../resources/health.ts';
import { admins, closed, json, list, none, type Route, readers } from './route.ts';

const backupParams = Type.Object({ backup_id: uuid('Identifier of the backup.') }, closed);

/** Settings, backups and status of the service. */
export const systemRoutes = {
  getConfig: {
    method: 'GET',
    path: '/api/v1/config',
    summary: 'Get the settings in effect and those stored for the next start',
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
    summary: 'Start a backup of the whole service; one runs at a time',
    tag: 'system',
    access: admins,
    audited: true,
    responses: { 202: json(success('backup')) },
    errors: ['CONFLICT'],
  },
  getBackup: {
    method: 'GET',
    path: '/api/v1/backups/:backup_id',
    summary: 'Get a backup or its progress',
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
    summary: 'Confirm that the host clock is right, if the transparency log rejects it',
    tag: 'system',
    access: admins,
    audited: true,
    responses: { 200: json(success('status')) },
  },
  getStatus: {
    method: 'GET',
    path: '/api/v1/status',
    summary: 'Get the system status',
    tag: 'system',
    access: readers,
    responses: { 200: json(success('status')) },
  },
  getOpenApi: {
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'Get this OpenAPI document',
    tag: 'system',
    access: 'public',
    responses: { 200: json(anyObject('An OpenAPI 3.1 document.')) },
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    summary: 'Check the health of the service',
    tag: 'system',
    access: 'public',
    alwaysPublic: true,
    responses: { 200: json(Health), 503: json(Health) },
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Get metrics in the Prometheus text format',
    tag: 'system',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; version=0.0.4; charset=utf-8' } },
  },
  connect: {
    method: 'GET',
    path: '/ws',
    summary: 'Open a WebSocket for subscriptions',
    tag: 'system',
    access: readers,
    responses: { 101: none },
    websocket: {},
  },
} as const satisfies Record<string, Route>;
