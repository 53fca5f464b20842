import { Type } from 'typebox';
import { alertExportQuery, alertGroupQuery, alertHistoryQuery } from '../alert-parameters.ts';
import { answer, paginated, success } from '../envelopes.ts';
import { alertHistogramQuery } from '../histogram-parameters.ts';
import { alertNoteQuery, alertQuery, alertStreamQuery } from '../parameters.ts';
import { Alert, AlertUpdateInput } from '../resources/alert.ts';
import { AlertBulkAnswer, AlertBulkInput } from '../resources/alert-bulk.ts';
import { AlertGroups } from '../resources/alert-groups.ts';
import { AlertNote, AlertNoteInput } from '../resources/alert-note.ts';
import { uuid } from '../resources/fields.ts';
import { analysts, closed, ifMatch, json, list, none, type Route, readers } from './route.ts';

const alertParams = Type.Object({ alert_id: uuid('Identifier of the alert.') }, closed);

/** Alerts, their notes and their history. */
export const alertsRoutes = {
  listAlerts: {
    method: 'GET',
    path: '/api/v1/alerts',
    summary: 'List alerts',
    tag: 'alerts',
    access: readers,
    query: alertQuery,
    responses: { 200: list(paginated('alert')) },
  },
  getAlertHistogram: {
    method: 'GET',
    path: '/api/v1/alerts/histogram',
    summary: 'Count alerts over time by severity',
    tag: 'alerts',
    access: readers,
    query: alertHistogramQuery,
    responses: { 200: json(success('histogram')) },
  },
  streamAlerts: {
    method: 'GET',
    path: '/api/v1/alerts/stream',
    summary: 'Stream alerts over a WebSocket',
    tag: 'alerts',
    access: readers,
    query: alertStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'alerts' },
  },
  bulkUpdateAlerts: {
    method: 'POST',
    path: '/api/v1/alerts/bulk',
    summary: 'Update many alerts; each one succeeds or fails separately',
    tag: 'alerts',
    access: analysts,
    audited: true,
    body: { kind: 'json', schema: AlertBulkInput },
    responses: { 200: json(answer(AlertBulkAnswer)) },
  },
  exportAlerts: {
    method: 'GET',
    path: '/api/v1/alerts/export',
    summary: 'Export all matching alerts, oldest first, one per line',
    tag: 'alerts',
    access: readers,
    query: alertExportQuery,
    responses: { 200: { kind: 'text', mediaType: 'application/x-ndjson' } },
  },
  groupAlerts: {
    method: 'GET',
    path: '/api/v1/alerts/groups',
    summary: 'Group alerts by a shared value',
    tag: 'alerts',
    access: readers,
    query: alertGroupQuery,
    responses: { 200: json(answer(AlertGroups)) },
  },
  getAlert: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id',
    summary: 'Get an alert',
    tag: 'alerts',
    access: readers,
    params: alertParams,
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND'],
  },
  updateAlert: {
    method: 'PUT',
    path: '/api/v1/alerts/:alert_id',
    summary: 'Update an alert (status, assignee, notes and more)',
    tag: 'alerts',
    access: analysts,
    audited: true,
    params: alertParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AlertUpdateInput, resource: Alert },
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_TRANSITION', 'VERSION_MISMATCH'],
  },
  listAlertHistory: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id/history',
    summary: 'List the history of an alert',
    tag: 'alerts',
    access: readers,
    params: alertParams,
    query: alertHistoryQuery,
    responses: { 200: list(paginated('alert_history')) },
    errors: ['NOT_FOUND'],
  },
  listAlertNotes: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id/notes',
    summary: 'List the notes of an alert',
    tag: 'alerts',
    access: readers,
    params: alertParams,
    query: alertNoteQuery,
    responses: { 200: list(paginated('alert_note')) },
    errors: ['NOT_FOUND'],
  },
  addAlertNote: {
    method: 'POST',
    path: '/api/v1/alerts/:alert_id/notes',
    summary: 'Add a note to an alert',
    tag: 'alerts',
    access: analysts,
    params: alertParams,
    body: { kind: 'json', schema: AlertNoteInput, resource: AlertNote },
    responses: { 201: json(success('alert_note')) },
    errors: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Route>;
