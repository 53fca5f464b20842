import { alertExportQuery, alertGroupQuery, alertHistoryQuery } from '../alert-parameters.ts';
import { alertHistogramQuery } from '../count-parameters.ts';
import { answer, paginated, success } from '../envelopes.ts';
import { alertNoteQuery, alertQuery, alertStreamQuery } from '../parameters.ts';
import { Alert, AlertUpdateInput } from '../resources/alert.ts';
import { AlertBulkAnswer, AlertBulkInput } from '../resources/alert-bulk.ts';
import { AlertGroups } from '../resources/alert-groups.ts';
import { AlertNote, AlertNoteInput } from '../resources/alert-note.ts';
import { parameters, uuid } from '../resources/fields.ts';
import { analysts, ifMatch, json, list, none, type RoutesWithout, readers, sharing } from './route.ts';

const alertParams = parameters({ alert_id: uuid('Identifier of the alert.') });

/** Alerts, their notes and their history. */
export const alertsRoutes = sharing({ tag: 'alerts', access: readers, method: 'GET' }, {
  listAlerts: {
    path: '/api/v1/alerts',
    summary: 'List alerts',
    query: alertQuery,
    responses: { 200: list(paginated('alert')) },
  },
  getAlertHistogram: {
    path: '/api/v1/alerts/histogram',
    summary: 'Count alerts over time by severity',
    query: alertHistogramQuery,
    responses: { 200: json(success('histogram')) },
  },
  streamAlerts: {
    path: '/api/v1/alerts/stream',
    summary: 'Stream alerts over a WebSocket',
    query: alertStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'alerts' },
  },
  bulkUpdateAlerts: {
    method: 'POST',
    path: '/api/v1/alerts/bulk',
    summary: 'Update many alerts; each one succeeds or fails separately',
    access: analysts,
    audited: true,
    body: { kind: 'json', schema: AlertBulkInput },
    responses: { 200: json(answer(AlertBulkAnswer)) },
  },
  exportAlerts: {
    path: '/api/v1/alerts/export',
    summary: 'Export all matching alerts, oldest first, one per line',
    query: alertExportQuery,
    responses: { 200: { kind: 'text', mediaType: 'application/x-ndjson' } },
  },
  groupAlerts: {
    path: '/api/v1/alerts/groups',
    summary: 'Group alerts by a shared value',
    query: alertGroupQuery,
    responses: { 200: json(answer(AlertGroups)) },
  },
  getAlert: {
    path: '/api/v1/alerts/:alert_id',
    summary: 'Get an alert',
    params: alertParams,
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND'],
  },
  updateAlert: {
    method: 'PUT',
    path: '/api/v1/alerts/:alert_id',
    summary: 'Update an alert (status, assignee, notes and more)',
    access: analysts,
    audited: true,
    params: alertParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AlertUpdateInput, resource: Alert },
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_TRANSITION', 'VERSION_MISMATCH'],
  },
  listAlertHistory: {
    path: '/api/v1/alerts/:alert_id/history',
    summary: 'List the history of an alert',
    params: alertParams,
    query: alertHistoryQuery,
    responses: { 200: list(paginated('alert_history')) },
    errors: ['NOT_FOUND'],
  },
  listAlertNotes: {
    path: '/api/v1/alerts/:alert_id/notes',
    summary: 'List the notes of an alert',
    params: alertParams,
    query: alertNoteQuery,
    responses: { 200: list(paginated('alert_note')) },
    errors: ['NOT_FOUND'],
  },
  addAlertNote: {
    method: 'POST',
    path: '/api/v1/alerts/:alert_id/notes',
    summary: 'Add a note to an alert',
    access: analysts,
    params: alertParams,
    body: { kind: 'json', schema: AlertNoteInput, resource: AlertNote },
    responses: { 201: json(success('alert_note')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
