import { Type } from 'typebox';
import { paginated, success } from '../envelopes.ts';
import { alertNoteQuery, alertQuery, alertStreamQuery } from '../parameters.ts';
import { Alert, AlertUpdateInput } from '../resources/alert.ts';
import { AlertNote, AlertNoteInput } from '../resources/alert-note.ts';
import { uuid } from '../resources/fields.ts';
import { analysts, closed, ifMatch, json, none, type Route, readers } from './route.ts';

const alertParams = Type.Object({ alert_id: uuid('Identifier of the alert.') }, closed);

/** Alerts and their notes. */
export const alertsRoutes = {
  listAlerts: {
    method: 'GET',
    path: '/api/v1/alerts',
    summary: 'List alerts',
    tag: 'alerts',
    access: readers,
    query: alertQuery,
    responses: { 200: json(paginated('alert')) },
  },
  streamAlerts: {
    method: 'GET',
    path: '/api/v1/alerts/stream',
    summary: 'WebSocket stream of alerts',
    tag: 'alerts',
    access: readers,
    query: alertStreamQuery,
    responses: { 101: none },
    websocket: { channel: 'alerts' },
  },
  getAlert: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id',
    summary: 'Get one alert',
    tag: 'alerts',
    access: readers,
    params: alertParams,
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND'],
  },
  updateAlert: {
    method: 'PUT',
    path: '/api/v1/alerts/:alert_id',
    summary: 'Update an alert (assignment, notes, status)',
    tag: 'alerts',
    access: analysts,
    audited: true,
    params: alertParams,
    headers: ifMatch,
    body: { kind: 'json', schema: AlertUpdateInput, resource: Alert },
    responses: { 200: json(success('alert')) },
    errors: ['NOT_FOUND', 'INVALID_TRANSITION', 'VERSION_MISMATCH'],
  },
  listAlertNotes: {
    method: 'GET',
    path: '/api/v1/alerts/:alert_id/notes',
    summary: 'List the notes of an alert',
    tag: 'alerts',
    access: readers,
    params: alertParams,
    query: alertNoteQuery,
    responses: { 200: json(paginated('alert_note')) },
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
