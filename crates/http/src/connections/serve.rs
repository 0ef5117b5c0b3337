//! The outermost step of each request: its body is kept until its answer is complete, and its connection is told of both.

use std::cell::RefCell;
use std::error::Error;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use actix_web::body::{BodySize, BodyStream, BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse, fn_service};
use actix_web::http::ConnectionType;
use actix_web::web::Bytes;
use actix_web::web::ServiceConfig;
use actix_web::{HttpRequest, HttpResponse};

use super::answer_memory::SMALL;
use super::connection::Connection;

/// The body of a request as it comes. While one of its clones exists, the HTTP server knows that the body is not
/// complete, and closes the connection soon after the answer. Of a body in chunks that was dropped it would wait for the
/// rest, for ever.
#[derive(Clone)]
pub(crate) struct Upload {
    parts: Rc<RefCell<BodyStream<Payload>>>,
    connection: Option<Rc<Connection>>,
}

impl Upload {
    /// The next bytes; none at the end.
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        let next = Pin::new(&mut *self.parts.borrow_mut()).poll_next(context);
        match (&self.connection, &next) {
            (Some(connection), Poll::Ready(Some(Ok(part)))) => connection.flow.took(part.len()),
            (Some(connection), Poll::Pending) if !connection.flow.ask() => {
                return Poll::Ready(Some(Err("its chunks are mostly not content".to_owned())));
            }
            _ => {}
        }
        next.map(|part| part.map(|part| part.map_err(|e| e.to_string())))
    }

    /// Whether some of it is still to come. Drops what is there.
    fn has_rest(&self) -> bool {
        let mut parts = self.parts.borrow_mut();
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match Pin::new(&mut *parts).poll_next(&mut context) {
                Poll::Ready(Some(Ok(_))) => {}
                next => return next.is_pending(),
            }
        }
    }
}

/// A request with its body, as its connection brings it.
pub(crate) struct Arrived {
    pub(crate) request: HttpRequest,
    pub(crate) upload: Option<Upload>,
    pub(crate) connection: Option<Rc<Connection>>,
}

/// A request until its answer is complete.
struct UnderWay {
    upload: Option<Upload>,
    connection: Option<Rc<Connection>>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            connection.flow.end(self.upload.as_ref().is_some_and(Upload::has_rest));
        }
    }
}

/// The body of an answer.
struct Answer {
    body: BoxBody,
    _under_way: UnderWay,
}

impl MessageBody for Answer {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(context)
    }
}

/// Adds what answers all requests to an application.
pub(crate) fn serve<F>(config: &mut ServiceConfig, answer: impl Fn(Arrived) -> F + Clone + 'static)
where
    F: Future<Output = HttpResponse> + 'static,
{
    config.default_service(fn_service(move |request: ServiceRequest| {
        let (request, payload) = request.into_parts();
        let connection = request.conn_data::<Rc<Connection>>().cloned();
        if let Some(connection) = &connection {
            connection.flow.begin();
            connection.pace.take();
        }
        let is_large = connection.as_ref().is_some_and(|connection| connection.flow.is_large.get());
        let offers_another = request.head().connection_type() == ConnectionType::Upgrade;
        let upload = match payload {
            Payload::None => None,
            payload => {
                let parts = Rc::new(RefCell::new(BodyStream::new(payload)));
                Some(Upload { parts, connection: connection.clone() })
            }
        };
        let arrived = Arrived { request: request.clone(), upload: upload.clone(), connection: connection.clone() };
        let under_way = UnderWay { upload, connection };
        let answer = answer.clone();
        async move {
            let mut answer = answer(arrived).await;
            if let Some(connection) = &under_way.connection {
                connection.pace.borrow_mut().places = answer.extensions_mut().remove();
            }
            if is_large || offers_another {
                // Gives the memory of the head back; after an offer the HTTP server ends the connection in any case.
                answer.head_mut().set_connection_type(ConnectionType::Close);
            }
            // So small an answer is in memory, and complete as soon as the HTTP server has it.
            let is_complete = match answer.body().size() {
                BodySize::None => true,
                BodySize::Sized(size) => size <= SMALL as u64,
                BodySize::Stream => false,
            };
            if !is_complete || under_way.upload.is_some() {
                answer = answer.map_body(|_, body| BoxBody::new(Answer { body, _under_way: under_way }));
            }
            Ok(ServiceResponse::new(request, answer))
        }
    }));
}
