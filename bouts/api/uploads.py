"""Uploads over the API: multipart, all faults at once."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, generics, serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from bouts import tasks
from bouts.actions import uploads
from bouts.api.permissions import IsOperator, SignedInWithScope
from bouts.models import ApiToken, Upload

FORM_BYTES = 1_000_000  # what a form adds to the file it carries


class TooLarge(exceptions.APIException):
    status_code = 413


class UploadForm(serializers.Serializer):
    """A match bundle or a challenge. ``check`` validates it and stores nothing."""

    file = serializers.FileField()
    check = serializers.BooleanField(default=False)


class FaultSerializer(serializers.Serializer):
    """One thing that is wrong, in words that can be shown as they are."""

    file = serializers.CharField()
    field = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()


class StageSerializer(serializers.Serializer):
    """A stage that an upload has reached."""

    stage = serializers.CharField()
    at = serializers.DateTimeField()
    detail = serializers.CharField(allow_blank=True)


class UploadSerializer(serializers.ModelSerializer):
    """An upload and what became of it: the match or challenge, or all its faults."""

    check = serializers.BooleanField(source="is_check")
    match = serializers.CharField(source="bundle.match.slug", default=None, allow_null=True)
    challenge = serializers.CharField(
        source="challenge_version.challenge.slug", default=None, allow_null=True
    )
    faults = FaultSerializer(many=True)
    stages = StageSerializer(many=True)

    class Meta:
        model = Upload
        fields = (
            "id", "name", "size", "check", "state", "stages", "faults", "reason",
            "match", "challenge", "created_at", "finished_at",
        )  # fmt: skip


STATUS = {
    Upload.State.RECEIVED: 202,
    Upload.State.WORKING: 202,
    Upload.State.STORED: 201,
    Upload.State.UNCHANGED: 200,
    Upload.State.VALID: 200,
    Upload.State.REFUSED: 422,
    Upload.State.FAILED: 500,
}


class Uploads:
    """What the views of uploads share."""

    serializer_class = UploadSerializer
    permission_classes = (SignedInWithScope, IsOperator)
    required_scope = ApiToken.Scope.UPLOAD
    filter_backends: list = []
    queryset = Upload.objects.select_related("bundle__match", "challenge_version__challenge")


class UploadList(Uploads, generics.ListCreateAPIView):
    """Uploads, newest first."""

    parser_classes = (MultiPartParser,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse what is too large by its announced size, before any of it is read."""
        announced = int(request.META.get("CONTENT_LENGTH") or 0)
        if announced > settings.BUNDLE_LIMITS["bundle_bytes"] + FORM_BYTES:
            raise TooLarge(f"{uploads.limits().bundle}. Nothing was read.")
        super().initial(request, *args, **kwargs)

    @extend_schema(
        request={"multipart/form-data": UploadForm},
        parameters=[
            OpenApiParameter(
                "Prefer", str, OpenApiParameter.HEADER, description="``respond-async``, or nothing."
            )
        ],
        responses={
            200: OpenApiResponse(UploadSerializer, description="Unchanged, or valid."),
            201: OpenApiResponse(UploadSerializer, description="Stored."),
            202: OpenApiResponse(UploadSerializer, description="Received; look again."),
            413: OpenApiResponse(description="Too large."),
            415: OpenApiResponse(description="Not multipart."),
            422: OpenApiResponse(UploadSerializer, description="Refused, with all its faults."),
        },
    )
    def post(self, request: Request) -> Response:
        """Take a bundle or a challenge in.

        The answer comes when that is done; a match is judged after it. With ``Prefer:
        respond-async`` it comes at once, and the upload's own address tells how far it is.
        """
        form = UploadForm(data=request.data)
        form.is_valid(raise_exception=True)
        file, is_check = form.validated_data["file"], form.validated_data["check"]
        row = uploads.receive(file, by=request.user, is_check=is_check)
        if "respond-async" in request.headers.get("Prefer", ""):
            tasks.ring(str(row.pk))
        else:
            # None where a worker was quicker: then the row says how far it is.
            row = uploads.process(str(row.pk)) or Upload.objects.get(pk=row.pk)
        address = request.build_absolute_uri(reverse("api:upload", args=[row.pk]))
        return Response(
            self.get_serializer(row).data,
            status=STATUS[Upload.State(row.state)],
            headers={"Location": address},
        )


class UploadDetail(Uploads, generics.RetrieveAPIView):
    """One upload, and how far it has come."""

    lookup_url_kwarg = "upload_id"
